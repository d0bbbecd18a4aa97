import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRPCError } from '@trpc/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { observedHere } from '../adapterDifferences.ts';
import { frame } from '../rpcClients/webSocketFrame.ts';
import { call, startLibrary } from './startLibrary.ts';

const until = (check: () => void) => vi.waitFor(check, { timeout: 5000, interval: 5 });
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const parameters = (data: unknown) => ({ method: 'connectionParams', data });
const waiting = '/trpc?connectionParams=1';

describe('the credential of a WebSocket', () => {
  it('comes with the request that opens it, and names the caller', async () => {
    const { dial } = await startLibrary();
    const client = dial('/trpc', bearer('other-key'));
    client.send(call(1, 'query', 'caller'));
    await until(() => expect(client.messages).toMatchObject([{ id: 1, result: { data: 'Bob' } }]));
  });

  it.each<[what: string, options: object]>([
    ['without one', {}],
    ['with a bad one', bearer('bad')],
    ['with one of another scheme', { headers: { authorization: 'Basic good-key' } }],
  ])('%s no socket is opened: 401', async (_what, options) => {
    const { dial, records } = await startLibrary();
    const [status, body] = await dial('/trpc', options).closed;
    expect(status).toBe(401);
    expect(JSON.parse(body)).toMatchObject({ error: { data: { code: 'UNAUTHORIZED' } } });
    expect(records).toMatchObject([{ method: 'GET', path: '/trpc', protocol: 'rpc', status: 401 }]);
  });

  it('that is good opens no socket beyond the rate limit: 429, with the headers of the limit', async () => {
    const { dial } = await startLibrary({}, { rateLimit: { calls: 1, windowSeconds: 60 } });
    const first = dial();
    await until(() => expect(first.socket.readyState).toBe(1));
    const second = dial();
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

  it('that is bad in the header is refused, whatever the first message would say', async () => {
    const { dial } = await startLibrary();
    expect((await dial(waiting, bearer('bad')).closed)[0]).toBe(401);
  });

  it.each(['authorization', 'Authorization'])(
    'may be %s in the connection parameters, where the URL says that they come',
    async (name) => {
      const { dial, records: requestRecords } = await startLibrary();
      const client = dial(waiting, {});
      client.send(parameters({ [name]: 'Bearer other-key' }));
      client.send(call(1, 'query', 'caller'));
      await until(() => expect(client.messages).toMatchObject([{ id: 1, result: { data: 'Bob' } }]));
      expect(JSON.stringify(requestRecords)).not.toContain('other-key');
    },
  );

  it.each<[what: string, data: unknown]>([
    ['a bad one', { authorization: 'Bearer bad' }],
    ['none', {}],
    ['null', null],
    ['another shape', { authorization: 5 }],
  ])('in connection parameters with %s is answered with the error, then closed', async (_what, data) => {
    const { dial } = await startLibrary();
    const client = dial(waiting, {});
    client.send(parameters(data));
    client.send(call(1, 'query', 'caller'));
    const [code] = await client.closed;
    expect(code).toBe(
      typeof data === 'object' && data && 'authorization' in data && data.authorization === 5 ? 1005 : 1008,
    );
    expect(JSON.stringify(client.messages)).not.toContain('"result"');
    expect(client.messages[0]).toMatchObject({ id: null, error: {} });
  });

  it('that does not come in time closes the socket', async () => {
    const { dial } = await startLibrary({ credentialDeadlineMs: 50 });
    expect(await dial(waiting, {}).closed).toEqual([1008, 'No credential was received in time.']);
  });

  it('is waited for on so many sockets and no more: 503, until one of them has sent it', async () => {
    const { dial } = await startLibrary({ maxUnauthenticatedSockets: 1 });
    const first = dial(waiting, {});
    await until(() => expect(first.socket.readyState).toBe(1));
    const [status, body] = await dial(waiting, {}).closed;
    expect([status, JSON.parse(body)]).toMatchObject([
      503,
      { error: { data: { code: 'SERVICE_UNAVAILABLE' } } },
    ]);
    first.send(parameters({ authorization: 'Bearer good-key' }));
    first.send(call(1, 'query', 'caller'));
    await until(() => expect(first.messages).toHaveLength(1));
    const third = dial(waiting, {});
    await until(() => expect(third.socket.readyState).toBe(1));
    third.socket.terminate();
    await until(() => expect(third.socket.readyState).toBe(3));
    await sleep(20);
    const fourth = dial(waiting, {});
    await until(() => expect(fourth.socket.readyState).toBe(1));
  });
});

describe('a client that has sent no credential', () => {
  it.each<[what: string, frames: Buffer]>([
    ['a message', frame('x'.repeat(66_000), { length: 1_000_000 })],
    [
      'a message in fragments',
      Buffer.concat([
        frame('x'.repeat(40_000), { fin: false }),
        frame('x'.repeat(40_000), { opcode: 0, fin: false }),
      ]),
    ],
  ])(
    'may not send more than 64 KiB of %s that does not end: its connection is ended',
    async (_what, frames) => {
      const { records, listening } = await startLibrary({ maxMessageBytes: 4_000_000 });
      const socket = connect(listening.port, '127.0.0.1');
      onTestFinished(() => {
        socket.destroy();
      });
      socket.on('error', () => {});
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(
        `GET ${waiting} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      );
      await once(socket, 'data');
      socket.write(frames);
      await closed;
      expect(records.at(-1)).toMatchObject({ method: 'WS', status: 413, limit: 'message-bytes' });
    },
  );

  it('and has one later may send 64 KiB at once, where one that sent it with its request may send maxMessageBytes', async () => {
    const { dial } = await startLibrary({ maxMessageBytes: 1_000_000 });
    const large = call(1, 'query', 'caller', 'x'.repeat(900_000));
    const client = dial('/trpc', bearer('good-key'));
    client.send(large);
    await until(() => expect(client.messages).toMatchObject([{ id: 1, result: { data: 'Ada' } }]));
    const later = dial(waiting, {});
    later.send(parameters({ authorization: 'Bearer good-key' }));
    later.send(call(1, 'query', 'caller', 'x'.repeat(60_000)));
    await until(() => expect(later.messages).toMatchObject([{ id: 1, result: { data: 'Ada' } }]));
    later.send(large);
    expect((await later.closed)[0]).toBe(
      observedHere('a message that is longer than 64 KiB and than maxMessageBytes'),
    );
  });

  it.each([
    ['another IPv4 address', '203.0.113.1', '203.0.113.2'],
    ['another /64 of IPv6', '2001:db8::1', '2001:db8:0:1::1'],
  ])(
    'and has as many sockets as one address may keeps out none of %s: %s, %s',
    async (_what, first, second) => {
      const { dial } = await startLibrary(
        { maxUnauthenticatedSocketsPerAddress: 1 },
        { trustProxy: ['127.0.0.1'] },
      );
      for (const address of [first, second]) {
        const { socket } = dial(waiting, { headers: { 'x-forwarded-for': address } });
        await until(() => expect(socket.readyState).toBe(1));
      }
    },
  );

  it.each([
    ['an IPv4 address', '203.0.113.1', '203.0.113.1'],
    ['a /64 of IPv6', '2001:db8::1', '2001:db8::2'],
  ])(
    'and has as many sockets as %s may (%s, %s) opens no other before one of them has sent it: 503',
    async (_what, first, second) => {
      const { dial } = await startLibrary(
        { maxUnauthenticatedSocketsPerAddress: 1 },
        { trustProxy: ['127.0.0.1'] },
      );
      const from = (address: string) => dial(waiting, { headers: { 'x-forwarded-for': address } });
      const silent = from(first);
      await until(() => expect(silent.socket.readyState).toBe(1));
      const [status, body] = await from(second).closed;
      expect(status).toBe(503);
      expect(body).toContain('the limit is 1 per address (sockets.maxUnauthenticatedSocketsPerAddress)');
      silent.send(parameters({ authorization: 'Bearer good-key' }));
      silent.send(call(1, 'query', 'caller'));
      await until(() => expect(silent.messages).toHaveLength(1));
      const next = from(second);
      await until(() => expect(next.socket.readyState).toBe(1));
    },
  );

  it('on 1,100 sockets of one address, each renewed when it ends, keeps no client of another from its own', async () => {
    const { dial, listening } = await startLibrary({ credentialDeadlineMs: 500 });
    const open = new Set<Socket>();
    let isOver = false;
    let refused = 0;
    onTestFinished(() => {
      isOver = true;
      for (const socket of open) socket.destroy();
    });
    const silent = () => {
      if (isOver) return;
      const socket = connect(listening.port, '127.0.0.1');
      open.add(socket);
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => {
        if (chunk.includes(' 503 ')) {
          refused += 1;
          socket.destroy();
        }
      });
      socket.on('close', () => {
        open.delete(socket);
        setTimeout(silent, 1000);
      });
      socket.write(
        `GET ${waiting} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      );
    };
    for (let count = 0; count < 1100; count += 1) silent();
    // node:http accepts one connection in each turn.
    await vi.waitFor(() => expect(refused).toBeGreaterThan(1000), { timeout: 15_000 });
    for (let count = 0; count < 20; count += 1) {
      const client = dial(waiting, { localAddress: '127.0.0.2' });
      client.send(parameters({ authorization: 'Bearer good-key' }));
      client.send(call(1, 'query', 'caller'));
      await until(() => expect(client.messages).toMatchObject([{ id: 1, result: { data: 'Ada' } }]));
      client.socket.terminate();
    }
  });

  it('in time has failed an attempt: after too many its address opens no further such socket, and a key is still good', async () => {
    const { dial, records } = await startLibrary(
      { credentialDeadlineMs: 30 },
      { failedAttempts: { attempts: 2, windowSeconds: 60 } },
    );
    for (let count = 0; count < 2; count += 1) expect((await dial(waiting, {}).closed)[0]).toBe(1008);
    const [status, body] = await dial(waiting, {}).closed;
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
    expect((await dial('/trpc', bearer('bad')).closed)[0]).toBe(429);
    const client = dial();
    client.send(call(1, 'query', 'caller'));
    await until(() => expect(client.messages).toHaveLength(1));
  });
});

describe('a client that closes its WebSocket before its key is checked', () => {
  it('keeps its place among those that wait, since it may leave the connection open', async () => {
    const { dial } = await startLibrary({ maxUnauthenticatedSocketsPerAddress: 1 });
    const client = dial(waiting, {});
    await until(() => expect(client.socket.readyState).toBe(1));
    client.socket.close(1000);
    await client.closed;
    expect((await dial(waiting, {}).closed)[0]).toBe(503);
  });
});

describe('a client that sends its key in time', () => {
  it('is not closed at credentialDeadlineMs while its key is looked up, and has failed no attempt', async () => {
    const lookup = Promise.withResolvers<void>();
    const { dial } = await startLibrary(
      { credentialDeadlineMs: 50, maxUnauthenticatedSockets: 1 },
      { checkKey: () => lookup.promise, failedAttempts: { attempts: 1, windowSeconds: 60 } },
    );
    const client = dial(waiting, {});
    client.send(parameters({ authorization: 'Bearer good-key' }));
    client.send(call(1, 'query', 'caller'));
    await sleep(200);
    // It keeps its place among those that wait until the key is looked up.
    expect((await dial(waiting, {}).closed)[0]).toBe(503);
    lookup.resolve();
    await until(() => expect(client.messages).toMatchObject([{ id: 1, result: { data: 'Ada' } }]));
    const next = dial(waiting, {});
    next.send(parameters({ authorization: 'Bearer good-key' }));
    next.send(call(1, 'query', 'caller'));
    await until(() => expect(next.messages).toHaveLength(1));
  });
});

describe('calls that wait for their context', () => {
  it('are each answered with its error where createContext rejects, and told to onError and onResponse', async () => {
    const making = Promise.withResolvers<never>();
    const failures: unknown[] = [];
    const { dial, records } = await startLibrary(
      {},
      {
        onContext: () => making.promise,
        onError: ({ path }) => failures.push(path),
      },
    );
    const client = dial();
    client.send(call(1, 'query', 'caller'));
    client.send([call(2, 'mutation', 'slowWrite', 1), call(3, 'subscription', 'ticks')]);
    await sleep(100);
    making.reject(new TRPCError({ code: 'UNAUTHORIZED', message: 'Not you.' }));
    await client.closed;
    const message = 'Not you.';
    expect(client.messages).toMatchObject([
      { id: null, error: { message } },
      { id: 1, error: { message, data: { path: 'caller' } } },
      { id: 2, error: { message, data: { path: 'slowWrite' } } },
      { id: 3, error: { message, data: { path: 'ticks' } } },
    ]);
    expect(failures).toEqual([undefined, 'caller', 'slowWrite', 'ticks']);
    expect(records.slice(1)).toMatchObject([
      { operation: undefined, status: 401 },
      { operation: 'caller', status: 401, isStream: false },
      { operation: 'slowWrite', status: 401, isStream: false },
      { operation: 'ticks', status: 401, isStream: true },
    ]);
  });
});

describe('the credential of an EventSource', () => {
  it('may be in the connection parameters of a subscription, and of nothing else', async () => {
    const { fetch, http } = await startLibrary();
    const query = `connectionParams=${encodeURIComponent('{"authorization":"Bearer good-key"}')}`;
    const stopping = new AbortController();
    const accept = { accept: 'text/event-stream' };
    const stream = await fetch(`${http}/trpc/ticks?${query}`, { headers: accept, signal: stopping.signal });
    expect(stream.status).toBe(200);
    stopping.abort();
    expect((await fetch(`${http}/trpc/caller?${query}`)).status).toBe(401);
    const bad = query.replace('good', 'bad');
    expect((await fetch(`${http}/trpc/ticks?${bad}`, { headers: accept })).status).toBe(401);
  });
});

describe('a credential that is revoked', () => {
  it('ends its sockets with 1008, its streams after an event, and no one else’s', async () => {
    const { dial, fetch, http, keys, listening, work } = await startLibrary();
    const mine = dial();
    const byParameters = dial(waiting, {});
    byParameters.send(parameters({ authorization: 'Bearer good-key' }));
    const others = dial('/trpc', bearer('other-key'));
    for (const client of [mine, byParameters, others]) client.send(call(1, 'subscription', 'silence'));
    const streams = await Promise.all(
      [`/trpc/ticks`, '/v1/ticks'].map((path) => fetch(`${http}${path}`, bearer('good-key'))),
    );
    const lines = await fetch(`${http}/trpc/slow?batch=1&input=${encodeURIComponent('{"0":60000}')}`, {
      headers: { authorization: 'Bearer good-key', 'trpc-accept': 'application/jsonl' },
    });
    await until(() => expect(listening.inFlight()).toBe(6));
    keys.delete('good-key');
    const started = performance.now();
    const reason = 'The credential is no longer valid.';
    expect(await Promise.all([mine.closed, byParameters.closed])).toEqual([
      [1008, reason],
      [1008, reason],
    ]);
    for (const stream of streams) expect(await stream.text()).toMatch(/data: \d+\n\n+$/);
    await lines.text();
    expect(performance.now() - started).toBeLessThan(3000);
    expect(others.socket.readyState).toBe(1);
    await until(() => expect(listening.inFlight()).toBe(1));
    expect(work.aborted).toContain('query');
  });
});
