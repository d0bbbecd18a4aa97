import { describe, expect, it } from 'vitest';
import { adapters, dial, ok, until } from './testing/dial.ts';

describe.each(adapters)('on $adapter', ({ listen }) => {
  // The syntax itself is tested in packages/gateway/test/wire, with every division into packets.

  const head = (headers = '', target = '/') => `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

  describe('rejected requests', () => {
    it.each<[what: string, requestText: string, status: number, code: string]>([
      ['its target is too long', head('', `/?${'a'.repeat(99)}`), 414, 'URI_TOO_LONG'],
      ['its headers are too long', head(`A: ${'b'.repeat(87)}\r\n`), 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE'],
      ['its expectation is unknown', head('Expect: x\r\n'), 417, 'EXPECTATION_FAILED'],
      ['its method is too long', head().replace('GET', 'A'.repeat(65)), 400, 'BAD_REQUEST'],
      ['its method is not a token', head().replace('GET', 'G@T'), 400, 'BAD_REQUEST'],
    ])(
      'a request gets a JSON error and the connection is closed if %s',
      async (_what, requestText, status, code) => {
        let isHandled = false;
        const listening = await listen(
          () => {
            isHandled = true;
            return ok();
          },
          { maxHeaderSize: 100 },
        );
        const { socket, text, closed } = await dial(listening);
        socket.write(requestText);
        await closed;
        const [responseHead = '', body = ''] = text().split('\r\n\r\n');
        expect(JSON.parse(body)).toEqual({ code, message: expect.any(String), status });
        expect(responseHead).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(responseHead).toMatch(/^content-type: application\/json$/im);
        expect(responseHead).toMatch(/^x-request-id: \S+$/im);
        expect(responseHead).toMatch(/^connection: close$/im);
        expect(isHandled).toBe(false);
      },
    );

    it('a target and headers of exactly maxHeaderSize are served', async () => {
      const listening = await listen(() => ok(), { maxHeaderSize: 100 });
      const { socket, text } = await dial(listening);
      socket.write(head(`A: ${'b'.repeat(86)}\r\n`, `/?${'a'.repeat(98)}`));
      await until(() => expect(text()).toMatch(/^HTTP\/1\.1 200 /));
    });

    it('rejectHttp of the service writes the response to a rejected request', async () => {
      const listening = await listen({
        handle: () => ok(),
        rejectHttp: ({ path }, { status, code }) => ({ status, headers: [], body: `${code} at ${path}` }),
      });
      const { socket, text, closed } = await dial(listening);
      socket.write('GET /there HTTP/1.1\r\nHost: a/b\r\n\r\n');
      await closed;
      expect(text()).toContain('BAD_REQUEST at /there');
    });
  });
});
