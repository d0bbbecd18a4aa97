import { describe, expect, it } from 'vitest';
import { adapters, dial, get, ok, until } from '../testing/dial.ts';

// The syntax of heads, and the default limits, are tested in packages/gateway/test/wire, with every division into packets.

describe.each(adapters)('on $adapter', ({ listen }) => {
  it('a connection over maxConnections gets 503 and is closed, and open connections are served', async () => {
    const listening = await listen(() => ok('served'), { maxConnections: 2 });
    const [first, second] = [await dial(listening), await dial(listening)];
    for (const write of [true, false]) {
      const { socket, text, closed } = await dial(listening);
      if (write) socket.write(get('/'));
      await closed;
      const [head = '', body = ''] = text().split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n/is);
      expect(head.match(/^connection: close$/gim)).toHaveLength(1);
      expect(JSON.parse(body)).toEqual({
        code: 'SERVICE_UNAVAILABLE',
        message: 'Too many connections are open. Try again later.',
        status: 503,
      });
    }
    first.socket.write(get('/'));
    await until(() => expect(first.text()).toContain('served'));
    second.socket.destroy();
    await second.closed;
    await until(async () => {
      const { text } = await dial(listening, get('/'));
      await until(() => expect(text()).toMatch(/^HTTP/));
      expect(text()).toContain('served');
    });
  });

  it.each([
    [98, 86, 'handled'],
    [99, 86, '414 URI_TOO_LONG'],
    [98, 87, '431 REQUEST_HEADER_FIELDS_TOO_LARGE'],
  ])(
    'a target and headers that have %d and %d bytes more than the shortest get "%s" where maxHeaderSize is 100',
    async (targetBytes, valueBytes, expected) => {
      const listening = await listen(
        {
          handle: () => ok('handled'),
          rejectHttp: ({ path }, { status, code }) => ({
            ...ok(`${status} ${code}`),
            status: path === '/' ? status : 599,
          }),
        },
        { maxHeaderSize: 100 },
      );
      const { socket, text } = await dial(listening);
      const value = 'b'.repeat(valueBytes);
      socket.write(`GET /?${'a'.repeat(targetBytes)} HTTP/1.1\r\nHost: x\r\nA: ${value}\r\n\r\n`);
      await until(() => expect(text().split('\r\n\r\n')[1]).toBe(expected));
      expect(text().slice(9, 12)).toBe(expected === 'handled' ? '200' : expected.slice(0, 3));
    },
  );

  it('without rejectHttp, a malformed request gets a JSON error with a request id and Connection: close', async () => {
    const { socket, text, closed } = await dial(await listen(() => ok('handled')));
    socket.write('G@T / HTTP/1.1\r\nHost: x\r\n\r\n');
    await closed;
    const [head = '', body = ''] = text().split('\r\n\r\n');
    expect(JSON.parse(body)).toEqual({ code: 'BAD_REQUEST', message: expect.any(String), status: 400 });
    for (const line of [/^HTTP\/1\.1 400 /, /^content-type: application\/json$/im, /^x-request-id: \S+$/im])
      expect(head).toMatch(line);
    expect(head).toMatch(/^connection: close$/im);
  });
});
