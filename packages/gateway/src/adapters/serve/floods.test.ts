import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../http/request.ts';
import type { Handle } from '../../http/service.ts';
import {
  adapters,
  blockFor,
  chunkedPost,
  dial,
  get,
  ok,
  post,
  recorded,
  streamOf,
  until,
} from '../testing/dial.ts';

describe.each(adapters)('on $adapter', ({ listen }) => {
  it('100 connections with a request of 10 ms each let another client in within a few turns', async () => {
    const handled: string[] = [];
    const listening = await listen(({ path }) => {
      if (path !== '/first') handled.push(path);
      if (path === '/slow') blockFor(10);
      return ok(path);
    });
    const clients = await Promise.all(Array.from({ length: 100 }, () => dial(listening)));
    const other = await dial(listening);
    // node:http accepts one connection per turn.
    for (const { socket } of [...clients, other]) socket.write(get('/first'));
    await until(() => {
      for (const { text } of [...clients, other]) expect(text()).toContain('/first');
    });
    // All arrive while the first one is handled.
    for (const { socket } of clients) socket.write(get('/slow'));
    await until(() => expect(handled).toContain('/slow'));
    other.socket.write(get('/other'));
    await until(() => expect(other.text()).toContain('/other'));
    expect(handled.indexOf('/other')).toBeLessThan(50);
    await until(() => expect(handled).toHaveLength(101));
  });

  const upgrade = `${get('/').slice(0, -2)}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  const pipelined: [kind: string, request: string, handle: Handle][] = [
    ['HEAD', 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n', () => ok('x')],
    ['GET', get('/'), () => ok('x')],
    ['GET with an asynchronous response', get('/'), async () => ok('x')],
    ['POST with a body', post('hello').replace('/p', '/'), () => ok('x')],
    ['GET for a WebSocket', upgrade, () => ok('x')],
    ['GET for another protocol', upgrade.replace('websocket', 'h2c'), () => ok('x')],
  ];

  it.each(pipelined)(
    'a connection that pipelines 5,000 requests is closed after 500 or one more, and others are served: %s',
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
      const { closed } = await dial(listening, request.repeat(5000));
      await closed;
      const other = await dial(listening, get('/other'));
      await until(() => expect(other.text()).toContain('\r\n\r\nx'));
      expect(handled).toBeLessThanOrEqual(501);
    },
  );

  it.each([
    ['with 200', 200, get('/slow')],
    ['with 401', 401, get('/slow')],
    ['with 404 to a POST', 404, 'POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'],
  ])(
    'pipelined requests that take 2 ms each and are answered %s let another client in after some 20 ms',
    async (_what, status, request) => {
      const { handle, handled } = recorded(({ path }) => {
        if (path === '/slow') blockFor(2);
        return { ...ok(path), status };
      });
      const listening = await listen(handle);
      const [client, other] = [await dial(listening), await dial(listening)];
      client.socket.write(request.repeat(60));
      await until(() => expect(handled).toContain('/slow'));
      other.socket.write(get('/other'));
      await until(() => expect(other.text()).toContain('/other'));
      expect(handled.indexOf('/other')).toBeLessThan(55);
    },
  );

  const mebibyte = 1024 * 1024;
  const unread: Handle = () => ({ ...ok('no'), status: 401 });
  const read: Handle = async (request) =>
    request.body(1000).then(
      () => ok('read'),
      () => ({ ...ok('no'), status: 413 }),
    );
  const delayed =
    (handle: Handle): Handle =>
    async (request) => {
      const response = await handle(request);
      await sleep(500);
      return response;
    };
  const declared = 'Content-Length: 999999999\r\n';
  const chunked = 'Transfer-Encoding: chunked\r\n';
  const endless: [what: string, head: string, handle: Handle, response: RegExp][] = [
    ['rejected at once', declared, unread, /401 .*no$/s],
    ['rejected later', declared, async (request) => unread(request), /401 .*no$/s],
    ['rejected on a closing connection', `${declared}Connection: x, close\r\n`, unread, /401 .*no$/s],
    ['too large by its Content-Length', declared, read, /413 .*no$/s],
    ['too large by its Content-Length, with a delayed response', declared, delayed(read), /413 .*no$/s],
    ['rejected, in chunks', chunked, unread, /401 .*no$/s],
    ['too large, in chunks, with a delayed response', chunked, delayed(read), /413 .*no$/s],
    ['too large, in chunks', chunked, read, /413 .*no$/s],
    ['rejected with a response of 1 MB', declared, () => ok('x'.repeat(mebibyte)), /200 .*x$/s],
    ['with a streamed response', declared, () => ok(streamOf('hi')), /200 .*hi\r\n0\r\n\r\n$/s],
    ['rejected without a body', declared, () => ({ status: 204, headers: [] }), /204 .*\r\n\r\n$/s],
  ];

  it('at most 1 MiB of an endless body is read after the response, which has Connection: close', async () => {
    const results = await Promise.all(
      endless.map(async ([what, head, handle, expected]) => {
        let request: HttpRequest | undefined;
        const listening = await listen((received) => {
          request = received;
          return handle(received);
        });
        const { socket, text, closed } = await dial(listening);
        let taken = 0;
        socket.write(`POST /p HTTP/1.1\r\nHost: x\r\n${head}\r\n`);
        const block = head === chunked ? `10000\r\n${'x'.repeat(0x10000)}\r\n` : 'x'.repeat(0x10000);
        const send = () => {
          taken = socket.bytesWritten - socket.writableLength;
          if (socket.writable) socket.write(block, send);
        };
        send();
        await until(() => expect(text()).toMatch(expected));
        await closed;
        return {
          what,
          hasConnectionClose: /\r\nconnection: close\r\n/i.test(text()),
          // More than 1 MiB: the kernel's buffers, and bytes that uWS still reads in the same turn.
          isCut: taken < 24 * mebibyte && (request?.receivedBytes ?? 0) < 8 * mebibyte,
        };
      }),
    );
    expect(results).toEqual(endless.map(([what]) => ({ what, hasConnectionClose: true, isCut: true })));
  });

  it('a rejected request with more than 1 MiB of its body left gets its response at once', async () => {
    const listening = await listen(() => ({ ...ok('no'), status: 401 }));
    for (const header of ['Expect: 100-continue', 'Connection: x, close']) {
      const { socket, text } = await dial(listening);
      const begun = performance.now();
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n${header}\r\n\r\n`);
      await until(() => expect(text()).toMatch(/HTTP\/1\.1 401 .*no$/s));
      // The server waits up to 2 s for a body that may end soon.
      expect(performance.now() - begun).toBeLessThan(1500);
    }
  });

  it('a body in 20,000 chunks takes no more memory than its bytes', async () => {
    let request: HttpRequest | undefined;
    const listening = await listen((received) => {
      request = received;
      return received.path === '/rejected'
        ? { ...ok('no'), status: 401 }
        : received.body(1_000_000).then((bytes) => ok(String(bytes.byteLength)));
    });
    for (const [path, expected] of [
      ['/rejected', 'no'],
      ['/read', '20000'],
    ]) {
      const before = process.memoryUsage().arrayBuffers;
      const { socket, text: received } = await dial(listening, chunkedPost(path));
      // Fewer chunks per turn of the event loop than the limit.
      for (let sent = 500; sent <= 20_000; sent += 500) {
        socket.write('1\r\nx\r\n'.repeat(500));
        await until(() => expect(request?.receivedBytes).toBe(sent));
      }
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_500_000);
      socket.write('0\r\n\r\n');
      await until(() => expect(received()).toContain(`\r\n\r\n${expected}`));
    }
  });

  it.each([200, 401])(
    '50,000 chunks of one byte that arrive together close the connection of a request with the status %i',
    async (status) => {
      const received = Promise.withResolvers<HttpRequest>();
      const listening = await listen((request) => {
        received.resolve(request);
        return status === 401 ? { ...ok('no'), status } : request.body(1_000_000).then(() => ok('read'));
      });
      const { socket, text, closed } = await dial(listening, chunkedPost('/'));
      const request = await received.promise;
      socket.write(`${'1\r\nx\r\n'.repeat(50_000)}0\r\n\r\n${get('/smuggled')}`);
      await closed;
      expect(text()).toBe('');
      expect(request.receivedBytes).toBeLessThan(5000);
      expect(request.path).toBe('/');
    },
  );
});
