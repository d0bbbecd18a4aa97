import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Handle } from '../../http/service.ts';
import { dial, get, ok, until } from '../server/testing/dial.ts';
import { listen } from './testing/listen.ts';

describe('pipelined requests', () => {
  const upgrade = `${get('/').slice(0, -2)}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  const kinds: [kind: string, request: string, handle: Handle][] = [
    ['HEAD', 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n', () => ok('x')],
    ['GET', get('/'), () => ok('x')],
    ['GET with an asynchronous response', get('/'), async () => ok('x')],
    ['POST with a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello', () => ok('x')],
    ['GET for a WebSocket', upgrade, () => ok('x')],
  ];

  it.each(kinds)(
    'more than 500 pipelined requests in one turn close their connection, and others are served: %s',
    async (_kind, request, handle) => {
      let handled = 0;
      const count: Handle = (received) => {
        if (received.path === '/') handled += 1;
        return handle(received);
      };
      // Rejects WebSocket upgrades.
      const listening = await listen({
        handle: count,
        upgrade: (received) => count(received),
      });
      const { socket, closed } = await dial(listening);
      socket.write(request.repeat(5000));
      await closed;
      const other = await dial(listening);
      other.socket.write(get('/other'));
      await until(() => expect(other.text()).toContain('\r\n\r\nx'));
      expect(handled).toBeLessThanOrEqual(500);
    },
  );

  it('100 pipelined requests that arrive together are answered in order', async () => {
    const listening = await listen(({ path }) => ok(path));
    const { socket, text } = await dial(listening);
    const paths = Array.from({ length: 100 }, (_, at) => `/${at}`);
    socket.write(paths.map(get).join(''));
    await until(() => expect(text().match(/\r\n\r\n\/\d+/g)).toHaveLength(100));
    expect(text().match(/(?<=\r\n\r\n)\/\d+/g)).toEqual(paths);
  });
});

describe('requests without Content-Length and Transfer-Encoding', () => {
  it.each([
    ['POST', 'closes'],
    ['PUT', 'closes'],
    ['PATCH', 'closes'],
    ['DELETE', 'keeps'],
    ['GET', 'keeps'],
  ])('a %s without a length %s its connection after the response', async (method, ending) => {
    const listening = await listen(({ path }) => ok(path));
    const { socket, text, closed } = await dial(listening);
    socket.write(`${method} /p HTTP/1.1\r\nHost: x\r\n\r\n`);
    await until(() => expect(text()).toMatch(/^HTTP\/1\.1 200 .*\/p$/s));
    const actualEnding = await Promise.race([closed.then(() => 'closes'), sleep(200, 'keeps')]);
    expect(actualEnding).toBe(ending);
    expect(/\r\nConnection: close\r\n/.test(text())).toBe(ending === 'closes');
  });
});

describe('a Content-Length after a header with an empty name', () => {
  it('a POST with a Content-Length after a header with an empty name closes its connection, and its body is never run as a request', async () => {
    const handled: string[] = [];
    const listening = await listen(({ path }) => {
      handled.push(path);
      return ok();
    });
    const body = get('/smuggled');
    const requestText = `POST /p HTTP/1.1\r\nHost: x\r\n: y\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    for (let at = requestText.indexOf('\n') + 1; at <= requestText.length; at += 1) {
      const { socket, closed } = await dial(listening);
      socket.write(requestText.slice(0, at));
      await sleep(2);
      socket.write(requestText.slice(at));
      await closed;
    }
    expect(new Set(handled)).toEqual(new Set(['/p']));
  });
});
