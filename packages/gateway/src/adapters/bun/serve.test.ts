import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RejectHttp } from '../../http/service.ts';
import { createFetch } from '../fetch/fetch.ts';
import { dial, get, listenOn, ok, post, until } from '../testing/dial.ts';
import { Bun } from './native.ts';
import { serve } from './serve.ts';

// packages/gateway/test/adapters/vitest.bun.config.ts runs these on Bun, with the tests of all servers.
const onBun = 'Bun' in globalThis;
const listen = listenOn(serve);

it.skipIf(onBun)('serve of trpc-gateway/bun names the servers for Node', async () => {
  await expect(serve({ handle: () => ok() })).rejects.toThrow(
    'trpc-gateway/bun runs on Bun 1.4 or newer. On Node, serve with trpc-gateway/uws or trpc-gateway/node.',
  );
});

async function* endless(onEnd: () => void) {
  try {
    for (;;) yield new Uint8Array(65_536);
  } finally {
    onEnd();
  }
}

describe.runIf(onBun)('on Bun', () => {
  it('a request over maxConnections gets the service’s 503, such as with CORS headers, and its connection is closed', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const handle = () => promise.then(() => ok('x'));
    const allowed = ['access-control-allow-origin', 'https://shop.example'] as const;
    const rejectHttp: RejectHttp = (_request, { status, message }) => ({
      status,
      headers: [allowed, ['content-type', 'text/plain']],
      body: message,
    });
    const listening = await listen({ handle, rejectHttp }, { maxConnections: 1 });
    const first = await dial(listening, get('/'));
    await until(() => expect(listening.inFlight()).toBe(1));
    const second = await dial(listening, get('/'));
    await second.closed;
    expect(second.text()).toMatch(/^HTTP\/1\.1 503 .*\r\nConnection: close\r\n.*Too many connections/s);
    expect(second.text().toLowerCase()).toContain('\r\nretry-after: 1\r\n');
    const events = await dial(listening, 'GET / HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n');
    await events.closed;
    // After another status, an EventSource never connects again.
    expect(events.text()).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nretry: [12]\d{3}\n\n$/s);
    for (const client of [second, events]) expect(client.text().toLowerCase()).toContain(allowed.join(': '));
    resolve();
    await until(() => expect(first.text()).toMatch(/^HTTP\/1\.1 200 /));
  });

  it('a server of Bun that calls gateway.fetch says Connection: close, and rejects an invalid Host with 400', async () => {
    const respond = createFetch({ handle: () => ok('x') });
    // `serve` needs further options, such as those of WebSockets.
    const server = Bun?.serve({ port: 0, fetch: (request: Request) => respond(request) } as never);
    onTestFinished(() => void server?.stop(true));
    for (const [host, status] of [
      ['x', 200],
      ['a b', 400],
    ]) {
      const { socket, text, closed } = await dial({ port: server?.port ?? 0 });
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      await closed;
      expect([text().slice(9, 12), ...(text().match(/\r\nconnection: .*/gi) ?? [])]).toEqual([
        String(status),
        '\r\nConnection: close',
      ]);
    }
  });

  it('a head of more than twice maxHeaderSize gets 431, and a longer target 414', async () => {
    const listening = await listen(() => ok('x'), { maxHeaderSize: 16_384 });
    const statusOf = async (bytes: string) => {
      const { text } = await dial(listening, bytes);
      await until(() => expect(text()).not.toBe(''));
      return text().slice(9, 12);
    };
    const withHeader = (bytes: number) => `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(bytes)}\r\n\r\n`;
    expect(await statusOf(withHeader(30_000))).toBe('200');
    expect(await statusOf(withHeader(33_000))).toBe('431');
    expect(await statusOf(get(`/${'x'.repeat(16_383)}`))).toBe('200');
    expect(await statusOf(get(`/${'x'.repeat(16_384)}`))).toBe('414');
  });

  it('a client that does not read a stream or stops to send a body is disconnected within 14 s', async () => {
    const ends: string[] = [];
    const listening = await listen(async (request) => {
      if (request.method === 'GET') return ok(endless(() => ends.push('stream')));
      await request.body(200_000).catch(() => ends.push('body'));
      return ok();
    });
    for (const bytes of [get('/'), post('x', 100_000)]) {
      const { socket } = await dial(listening, bytes);
      socket.pause();
    }
    await sleep(7_000);
    expect(ends).toEqual([]);
    await sleep(7_000);
    expect(ends.toSorted()).toEqual(['body', 'stream']);
  });

  it('a response and an event that take longer than the idle timeout arrive', async () => {
    const late = async () => {
      await sleep(14_000);
      return 'late';
    };
    const listening = await listen(async ({ path }) =>
      path === '/stream'
        ? ok(
            (async function* () {
              yield Buffer.from('soon');
              yield Buffer.from(await late());
            })(),
          )
        : ok(await late()),
    );
    const bodies = ['/', '/stream'].map(async (path) => {
      const response = await fetch(`http://127.0.0.1:${listening.port}${path}`);
      return response.text();
    });
    expect(await Promise.all(bodies)).toEqual(['late', 'soonlate']);
  });
});
