import { describe, expect, it } from 'vitest';
import { adapters, dial, get, ok, until } from './testing/dial.ts';

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
      const { socket, text } = await dial(listening);
      socket.write(get('/'));
      await until(() => expect(text()).toMatch(/^HTTP/));
      expect(text()).toContain('served');
    });
  });
});
