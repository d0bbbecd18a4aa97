import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRPCError } from '@trpc/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { observedHere } from '../adapterDifferences.ts';
import { frame } from '@petstore/testing/webSocketFrames';
import { rawSocket, upgradeRequest } from '../wire/rawSocket.ts';
import { call, callerOf, startSocketGateway, until } from './startSocketGateway.ts';

const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const connectionParams = (data: unknown) => ({ method: 'connectionParams', data });
const connectionParamsTarget = '/trpc?connectionParams=1';

describe('credentials of WebSockets', () => {
  it('a WebSocket upgrade over the rate limit gets 429 with the headers of the limit', async () => {
    const { connectClient } = await startSocketGateway({ rateLimit: { calls: 1, windowMs: 60_000 } });
    const first = connectClient();
    await until(() => expect(first.socket.readyState).toBe(1));
    const second = connectClient();
    const [, response] = (await once(second.socket, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(response).toMatchObject({
      statusCode: 429,
      headers: {
        ratelimit: '"default";r=0;t=60',
        'ratelimit-policy': '"default";q=1;w=60',
        'retry-after': expect.any(String),
      },
    });
  });

  it('a WebSocket upgrade with an invalid key in its header gets 401, even if its URL has connectionParams=1', async () => {
    const { connectClient } = await startSocketGateway();
    expect((await connectClient(connectionParamsTarget, withKey('bad')).closed)[0]).toBe(401);
  });

  it.each(['authorization', 'Authorization'])(
    'a WebSocket whose URL has connectionParams=1 takes its credential from "%s" in the first message, and no request record contains the credential',
    async (name) => {
      const { connectClient, records } = await startSocketGateway();
      const client = connectClient(connectionParamsTarget, {});
      client.send(connectionParams({ [name]: 'Bearer other-key' }));
      expect(await callerOf(client)).toBe('Bob');
      expect(JSON.stringify(records)).not.toContain('other-key');
    },
  );

  it.each<[condition: string, code: number, data: unknown]>([
    ['null', 1008, null],
    ['a credential that is not a string', 1005, { authorization: 5 }],
  ])(
    'a WebSocket with %s in its connection parameters gets an error message and is closed with %i',
    async (_condition, code, data) => {
      const { connectClient } = await startSocketGateway();
      const client = connectClient(connectionParamsTarget, {});
      client.send(connectionParams(data));
      client.send(call(1, 'query', 'caller'));
      expect((await client.closed)[0]).toBe(code);
      expect(JSON.stringify(client.messages)).not.toContain('"result"');
      expect(client.messages[0]).toMatchObject({ id: null, error: {} });
    },
  );

  it('a WebSocket that sends no credential within 5 s is closed with 1008', async () => {
    const { connectClient } = await startSocketGateway();
    expect(await connectClient(connectionParamsTarget, {}).closed).toEqual([
      1008,
      'No credential was received in time.',
    ]);
  });

  it('beside 500 WebSockets without a credential, further ones get 503 until one of those sends it or disconnects', async () => {
    const { connectClient } = await startSocketGateway({ trustProxy: ['127.0.0.1'] });
    const from = (address: number) =>
      connectClient(connectionParamsTarget, { headers: { 'x-forwarded-for': `203.0.113.${address}` } });
    const [first, ...others] = Array.from({ length: 499 }, (_, at) => from(at % 10));
    await until(() => expect(others.every(({ socket }) => socket.readyState === 1)).toBe(true));
    const last = from(11);
    await until(() => expect(last.socket.readyState).toBe(1));
    const [status, body] = await from(12).closed;
    expect([status, JSON.parse(body)]).toMatchObject([
      503,
      {
        error: {
          message: 'Too many sockets are waiting to authenticate: the limit is 500. Try again later.',
          data: { code: 'SERVICE_UNAVAILABLE' },
        },
      },
    ]);
    first?.send(connectionParams({ authorization: 'Bearer good-key' }));
    first?.send(call(1, 'query', 'caller'));
    await until(() => expect(first?.messages).toHaveLength(1));
    const third = from(12);
    await until(() => expect(third.socket.readyState).toBe(1));
    third.socket.terminate();
    await until(() => expect(third.socket.readyState).toBe(3));
    await sleep(20);
    const fourth = from(12);
    await until(() => expect(fourth.socket.readyState).toBe(1));
  });
});

describe('limits for WebSockets without a credential', () => {
  it.each<[condition: string, frames: Buffer]>([
    ['one frame', frame('x'.repeat(66_000), { length: 1_000_000 })],
    [
      'several fragments',
      Buffer.concat([
        frame('x'.repeat(40_000), { fin: false }),
        frame('x'.repeat(40_000), { opcode: 0, fin: false }),
      ]),
    ],
  ])(
    'a WebSocket without a credential that sends over twice maxBodySize of an unfinished message in %s is disconnected',
    async (_condition, frames) => {
      const { records, server } = await startSocketGateway({ maxBodySize: 32_768 });
      const socket = rawSocket(server.port, upgradeRequest(connectionParamsTarget));
      onTestFinished(() => void socket.destroy());
      const closed = new Promise((resolve) => socket.once('close', resolve));
      await once(socket, 'data');
      socket.write(frames);
      await closed;
      expect(records.at(-1)).toMatchObject({ method: 'WS', status: 413, limit: 'message-bytes' });
    },
  );

  it('a WebSocket whose key came in its first message accepts messages of up to maxBodySize', async () => {
    const { connectClient } = await startSocketGateway({ maxBodySize: 65_536 });
    const client = connectClient(connectionParamsTarget, {});
    client.send(connectionParams({ authorization: 'Bearer good-key' }));
    client.send(call(1, 'query', 'caller', 'x'.repeat(60_000)));
    await until(() => expect(client.messages).toMatchObject([{ id: 1, result: { data: 'Ada' } }]));
    client.send(call(1, 'query', 'caller', 'x'.repeat(132_000)));
    expect((await client.closed)[0]).toBe(observedHere('a message that is longer than twice maxBodySize'));
  });

  it.each([
    ['two IPv4 addresses', '203.0.113.1', '203.0.113.2'],
    ['two /64 networks of IPv6', '2001:db8::1', '2001:db8:0:1::1'],
  ])(
    'WebSockets without a credential of %s are counted separately: %s, %s',
    async (_condition, first, second) => {
      const { connectClient } = await startSocketGateway({ trustProxy: ['127.0.0.1'] });
      for (const address of [first, second]) {
        const from = { headers: { 'x-forwarded-for': address } };
        const clients = Array.from({ length: 50 }, () => connectClient(connectionParamsTarget, from));
        await until(() => expect(clients.every(({ socket }) => socket.readyState === 1)).toBe(true));
      }
    },
  );

  it.each([
    ['one IPv4 address', '203.0.113.1', '203.0.113.1'],
    ['one /64 network of IPv6', '2001:db8::1', '2001:db8::2'],
  ])(
    '50 WebSockets without a credential of %s are accepted together (%s, %s), and the next gets 503 until one sends its credential',
    async (_condition, first, second) => {
      const { connectClient } = await startSocketGateway({ trustProxy: ['127.0.0.1'] });
      const from = (address: string) =>
        connectClient(connectionParamsTarget, { headers: { 'x-forwarded-for': address } });
      const others = Array.from({ length: 49 }, () => from(first));
      const silent = from(first);
      await until(() =>
        expect([...others, silent].every(({ socket }) => socket.readyState === 1)).toBe(true),
      );
      const [status, body] = await from(second).closed;
      expect(status).toBe(503);
      expect(body).toContain('the limit is 50 per address.');
      silent.send(connectionParams({ authorization: 'Bearer good-key' }));
      expect(await callerOf(silent)).toBe('Ada');
      const next = from(second);
      await until(() => expect(next.socket.readyState).toBe(1));
    },
  );

  it('1,100 WebSockets without a credential from one address, each reopened when it ends, do not block clients of another address', async () => {
    const { connectClient, server } = await startSocketGateway();
    const open = new Set<Socket>();
    let isStopped = false;
    let rejected = 0;
    onTestFinished(() => {
      isStopped = true;
      for (const socket of open) socket.destroy();
    });
    const openSilentSocket = () => {
      if (isStopped) return;
      const socket = rawSocket(server.port, upgradeRequest(connectionParamsTarget));
      open.add(socket);
      socket.on('data', (chunk: Buffer) => {
        if (chunk.includes(' 503 ')) {
          rejected += 1;
          socket.destroy();
        }
      });
      socket.on('close', () => {
        open.delete(socket);
        setTimeout(openSilentSocket, 1000);
      });
    };
    for (let count = 0; count < 1100; count += 1) openSilentSocket();
    // node:http accepts one connection per turn of the event loop.
    await vi.waitFor(() => expect(rejected).toBeGreaterThan(1000));
    for (let count = 0; count < 20; count += 1) {
      const client = connectClient(connectionParamsTarget, { localAddress: '127.0.0.2' });
      client.send(connectionParams({ authorization: 'Bearer good-key' }));
      expect(await callerOf(client)).toBe('Ada');
      client.socket.terminate();
    }
  });

  it('WebSockets that send no credential in time count as failed attempts: over the limit their address gets 429, except for a valid key', async () => {
    const { connectClient, records } = await startSocketGateway({
      failedAttempts: { attempts: 2, windowMs: 60_000 },
    });
    const silent = [1, 2].map(() => connectClient(connectionParamsTarget, {}).closed);
    expect((await Promise.all(silent)).map(([code]) => code)).toEqual([1008, 1008]);
    const [status, body] = await connectClient(connectionParamsTarget, {}).closed;
    expect([status, JSON.parse(body)]).toMatchObject([
      429,
      {
        error: {
          message:
            'Too many WebSockets without a credential from this address: the limit is 2 in 60 s. Try again later.',
        },
      },
    ]);
    expect(records.at(-1)).toMatchObject({ status: 429, limit: 'failed-attempts' });
    expect((await connectClient('/trpc', withKey('bad')).closed)[0]).toBe(429);
    const client = connectClient();
    expect(await callerOf(client)).toBe('Ada');
  });
});

it('a WebSocket that sends its key within 5 s stays open while the key is verified, and counts as no failed attempt', async () => {
  const verification = Promise.withResolvers<void>();
  const { connectClient } = await startSocketGateway({
    checkKey: () => verification.promise,
    failedAttempts: { attempts: 1, windowMs: 60_000 },
  });
  const client = connectClient(connectionParamsTarget, {});
  client.send(connectionParams({ authorization: 'Bearer good-key' }));
  client.send(call(1, 'query', 'caller'));
  await sleep(5500);
  verification.resolve();
  await until(() => expect(client.messages).toMatchObject([{ id: 1, result: { data: 'Ada' } }]));
  const next = connectClient(connectionParamsTarget, {});
  next.send(connectionParams({ authorization: 'Bearer good-key' }));
  expect(await callerOf(next)).toBe('Ada');
});

it('if createContext rejects, every pending call on the WebSocket gets its error, and onError and onResponse receive each of them', async () => {
  const context = Promise.withResolvers<never>();
  const errorPaths: unknown[] = [];
  const { connectClient, records } = await startSocketGateway({
    onContext: () => context.promise,
    onError: ({ path }) => errorPaths.push(path),
  });
  const client = connectClient();
  client.send(call(1, 'query', 'caller'));
  client.send([call(2, 'mutation', 'slowWrite', 1), call(3, 'subscription', 'ticks')]);
  await sleep(100);
  context.reject(new TRPCError({ code: 'UNAUTHORIZED', message: 'Not you.' }));
  await client.closed;
  const message = 'Not you.';
  expect(client.messages).toMatchObject([
    { id: null, error: { message } },
    { id: 1, error: { message, data: { path: 'caller' } } },
    { id: 2, error: { message, data: { path: 'slowWrite' } } },
    { id: 3, error: { message, data: { path: 'ticks' } } },
  ]);
  expect(errorPaths).toEqual([undefined, 'caller', 'slowWrite', 'ticks']);
  expect(records.slice(1)).toMatchObject([
    { operation: undefined, status: 401 },
    { operation: 'caller', status: 401, isStream: false },
    { operation: 'slowWrite', status: 401, isStream: false },
    { operation: 'ticks', status: 401, isStream: true },
  ]);
});
