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
    ['GET that is answered in a microtask', get('/'), async () => ok('x')],
    ['POST with a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello', () => ok('x')],
    ['GET for a WebSocket', upgrade, () => ok('x')],
  ];

  it.each(kinds)(
    'of one connection are handled at most 500 per turn of the event loop, then it is closed and others are served: %s',
    async (_kind, request, handle) => {
      let handled = 0;
      const count: Handle = (received) => {
        if (received.path === '/') handled += 1;
        return handle(received);
      };
      // A request for a WebSocket is rejected.
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

  it('are answered in order when 100 of them arrive together', async () => {
    const listening = await listen(({ path }) => ok(path));
    const { socket, text } = await dial(listening);
    const paths = Array.from({ length: 100 }, (_, at) => `/${at}`);
    socket.write(paths.map(get).join(''));
    await until(() => expect(text().match(/\r\n\r\n\/\d+/g)).toHaveLength(100));
    expect(text().match(/(?<=\r\n\r\n)\/\d+/g)).toEqual(paths);
  });
});

describe('a request without Content-Length and Transfer-Encoding', () => {
  it.each([
    ['POST', 'closes'],
    ['PUT', 'closes'],
    ['PATCH', 'closes'],
    ['DELETE', 'keeps'],
    ['GET', 'keeps'],
  ])('that is a %s %s its connection after the answer', async (method, what) => {
    const listening = await listen(({ path }) => ok(path));
    const { socket, text, closed } = await dial(listening);
    socket.write(`${method} /p HTTP/1.1\r\nHost: x\r\n\r\n`);
    await until(() => expect(text()).toMatch(/^HTTP\/1\.1 200 .*\/p$/s));
    const isClosed = await Promise.race([closed.then(() => 'closes'), sleep(200, 'keeps')]);
    expect(isClosed).toBe(what);
    expect(/\r\nConnection: close\r\n/.test(text())).toBe(what === 'closes');
  });
});

describe('a POST whose Content-Length stands behind a header with an empty name', () => {
  it('closes its connection and never runs its body as a request, however it is cut', async () => {
    const handled: string[] = [];
    const listening = await listen(({ path }) => {
      handled.push(path);
      return ok();
    });
    const body = get('/smuggled');
    const wire = `POST /p HTTP/1.1\r\nHost: x\r\n: y\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    for (let at = wire.indexOf('\n') + 1; at <= wire.length; at += 1) {
      const { socket, closed } = await dial(listening);
      socket.write(wire.slice(0, at));
      await sleep(2);
      socket.write(wire.slice(at));
      await closed;
    }
    expect(new Set(handled)).toEqual(new Set(['/p']));
  });
});
