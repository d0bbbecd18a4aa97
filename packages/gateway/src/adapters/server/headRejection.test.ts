import { describe, expect, it } from 'vitest';
import { adapters, dial, ok, until } from './testing/dial.ts';

describe.each(adapters)('on $adapter', ({ listen }) => {
  // The syntax itself is tested in packages/gateway/test/rawHttp, with every division into packets.

  const head = (headers = '', target = '/') => `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

  describe('rejected requests', () => {
    it.each<[what: string, requestText: string, status: number, code: string]>([
      ['its target is too long', head('', `/?${'a'.repeat(99)}`), 414, 'URI_TOO_LONG'],
      ['its headers are too long', head(`A: ${'b'.repeat(200)}\r\n`), 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE'],
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
          { maxHeaderBytes: 100 },
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

  describe('requests at a limit', () => {
    it.each([
      ['a target', head('', `/?${'a'.repeat(98)}`)],
      // `Host: x` with its line break takes 9 bytes.
      ['headers', head(`A: ${'b'.repeat(86)}\r\n`)],
    ])('a request with %s of exactly the maximum size is served', async (_what, requestText) => {
      const { socket, text } = await dial(await listen(() => ok('served'), { maxHeaderBytes: 100 }));
      socket.write(requestText);
      await until(() => expect(text()).toMatch(/200 OK.*served$/s));
    });
  });

  describe('requests with Connection: close', () => {
    it.each(['close', 'Close', 'keep-alive, close'])(
      'a request with Connection: %s is the last that is served',
      async (value) => {
        for (const body of ['x', 'x'.repeat(200_000), undefined]) {
          const handled: string[] = [];
          const listening = await listen(({ path }) => {
            handled.push(path);
            return { status: body === undefined ? 204 : 200, headers: [], body };
          });
          const { socket, text, closed } = await dial(listening);
          socket.write(head(`Connection: ${value}\r\n`, '/last'));
          await until(() => expect(text()).toMatch(/^HTTP\/1\.1 20/));
          socket.write(head('', '/more'));
          if (body !== 'x'.repeat(200_000)) await closed;
          await new Promise((resolve) => setTimeout(resolve, 50));
          expect(handled).toEqual(['/last']);
        }
      },
    );
  });
});
