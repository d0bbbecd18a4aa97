import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { observedHere } from '../adapterDifferences.ts';
import { call, startSocketGateway } from './startSocketGateway.ts';

const tooLong = 'a message that is longer than twice maxBodySize';

const until = (check: () => void) => vi.waitFor(check, { interval: 5 });

describe('clients that do not read', () => {
  it('a client that does not read its WebSocket applies backpressure to its subscription until it reads again', async () => {
    const { connectClient, activity, server } = await startSocketGateway();
    const client = connectClient();
    client.send(call(1, 'subscription', 'flood'));
    await once(client.socket, 'message');
    const untilPaused = async () => {
      let pulled = -1;
      await vi.waitFor(
        () => {
          const before = pulled;
          pulled = activity.pulled;
          expect(pulled).toBe(before);
        },
        { interval: 200 },
      );
      return pulled;
    };
    client.socket.pause();
    const pulledBefore = await untilPaused();
    client.socket.resume();
    await until(() => expect(activity.pulled).toBeGreaterThan(pulledBefore + 100));
    client.socket.pause();
    await untilPaused();
    client.socket.terminate();
    await until(() => expect([activity.finished, server.inFlight()]).toEqual([['flood'], 0]));
  });

  it.each<[unread: string, message: (id: number) => object]>([
    ['responses', (id) => call(id, 'query', 'large', 512)],
    ['the events of an observable, which has no backpressure', (id) => call(id, 'subscription', 'pushed')],
  ])(
    'a WebSocket client that does not read %s is closed with 1013 when they exceed 1 MiB',
    async (_unread, message) => {
      const { connectClient, records } = await startSocketGateway();
      const client = connectClient();
      await once(client.socket, 'open');
      client.socket.pause();
      for (let id = 1; id <= 40; id += 1) client.send(message(id));
      await until(() => expect(records.some(({ limit }) => limit === 'unsent-bytes')).toBe(true));
      client.socket.resume();
      expect(await client.closed).toEqual([1013, 'The send buffer is full: the client is not reading.']);
    },
  );
});

it('a WebSocket client that pings and does not read is closed with 1013 when its unsent data, with pongs, exceeds 1 MiB', async () => {
  // A quarter of this may be queued in front of close frames.
  const serveOptions = { maxUnsentSize: 1_000_000_000 };
  const { connectClient, records } = await startSocketGateway({ serveOptions });
  const client = connectClient();
  await once(client.socket, 'open');
  client.socket.pause();
  // More than the kernel buffers. Unsent bytes are checked before a response is sent, so the first one is queued whole.
  client.send(call(1, 'query', 'large', 16_000));
  await until(() => expect(records).toMatchObject([{ status: 101 }, { operation: 'large' }]));
  client.socket.ping();
  await until(() => expect(records.at(-1)).toMatchObject({ status: 429, limit: 'unsent-bytes' }));
  client.socket.resume();
  expect(await client.closed).toEqual([1013, 'The send buffer is full: the client is not reading.']);
});

describe('limits of a WebSocket', () => {
  it('a message larger than maxBodySize gets PAYLOAD_TOO_LARGE for each of its calls, of which none runs, and the WebSocket stays open', async () => {
    const { activity, connectClient, records } = await startSocketGateway({ maxBodySize: 1000 });
    const client = connectClient();
    client.send([
      call(1, 'query', 'caller', 'x'.repeat(1000)),
      call(2, 'mutation', 'slowWrite', 0),
      call(3, 'subscription', 'ticks'),
      { id: 4, method: 'subscription.stop' },
    ]);
    const message =
      'The message is larger than 1000 bytes (maxBodySize). Its calls did not run: send fewer or smaller ones at once, or send them over HTTP.';
    const error = { message, data: { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 } };
    await until(() =>
      expect(client.messages).toMatchObject([
        { id: 1, error },
        { id: 2, error },
        { id: 3, error },
      ]),
    );
    expect(records.slice(1)).toMatchObject(
      ['caller', 'slowWrite', 'ticks'].map((operation) => ({
        operation,
        status: 413,
        limit: 'message-bytes',
      })),
    );
    expect(activity).toMatchObject({ finished: [], aborted: [] });
    client.send(call(3, 'subscription', 'ticks'));
    await until(() =>
      expect(client.messages).toContainEqual(expect.objectContaining({ id: 3, result: { type: 'started' } })),
    );
  });

  it('a message of 64 KiB that no maxBodySize allows is received, and a larger one closes the WebSocket', async () => {
    const { connectClient } = await startSocketGateway({ maxBodySize: 1000 });
    const client = connectClient();
    client.send(call(1, 'query', 'caller', 'x'.repeat(65_000)));
    await until(() => expect(client.messages).toMatchObject([{ id: 1, error: {} }]));
    client.send(call(2, 'query', 'caller', 'x'.repeat(65_536)));
    expect((await client.closed)[0]).toBe(observedHere(tooLong));
  });

  it('a message may have maxBodySize', async () => {
    const { connectClient } = await startSocketGateway();
    const client = connectClient();
    const message = JSON.stringify(call(1, 'query', 'caller'));
    await once(client.socket, 'open');
    client.socket.send(message.padEnd(1_048_576));
    await until(() => expect(client.messages).toMatchObject([{ id: 1, result: {} }]));
    client.socket.send(message.padEnd(1_048_577));
    await until(() => expect(client.messages[1]).toMatchObject({ id: 1, error: {} }));
    client.socket.send(message.padEnd(2_097_152));
    await until(() => expect(client.messages[2]).toMatchObject({ id: 1, error: {} }));
    client.socket.send(message.padEnd(2_097_153));
    expect((await client.closed)[0]).toBe(observedHere(tooLong));
  });

  it.each(['query', 'subscription'] as const)(
    'each %s beside 5000 calls gets TOO_MANY_REQUESTS, also in the same message, and the WebSocket stays open',
    async (method) => {
      const { activity, connectClient, records, server } = await startSocketGateway();
      const client = connectClient();
      const path = method === 'query' ? 'waits' : 'silence';
      client.send(Array.from({ length: 5002 }, (_, id) => call(id, method, path)));
      const of = (id: number) => client.messages.find((message) => (message as { id: number }).id === id);
      const rejected = {
        error: {
          message:
            '5000 calls or subscriptions are open on this WebSocket, which is the limit. End some of them, or open another WebSocket.',
          data: { code: 'TOO_MANY_REQUESTS', httpStatus: 429, path },
        },
      };
      await until(() => expect([of(5000), of(5001)]).toMatchObject([rejected, rejected]));
      await until(() => expect(server.inFlight()).toBe(method === 'query' ? 1000 : 5000));
      // Beside 1000 queries that run, `maxInFlight` rejects the next one.
      client.send(call(6000, method, path));
      const code = method === 'query' ? 'SERVICE_UNAVAILABLE' : 'TOO_MANY_REQUESTS';
      await until(() => expect(of(6000)).toMatchObject({ error: { data: { code } } }));
      expect(records.filter(({ limit }) => limit === 'socket-calls').length).toBeGreaterThanOrEqual(2);
      activity.release.resolve();
      client.send({ id: 1, method: 'subscription.stop' });
      const ended = method === 'query' ? { type: 'data', data: 'query' } : { type: 'stopped' };
      await until(() =>
        expect(client.messages).toContainEqual(expect.objectContaining({ id: 1, result: ended })),
      );
      client.send(call(6001, method, method === 'query' ? 'caller' : 'ticks'));
      await until(() => expect(of(6001)).toMatchObject({ result: {} }));
    },
  );

  it('calls that are complete or stopped do not count as concurrent', async () => {
    const { connectClient, server } = await startSocketGateway();
    const client = connectClient();
    const waiting = Array.from({ length: 4999 }, (_, at) => call(1000 + at, 'subscription', 'silence'));
    client.send(waiting);
    await until(() => expect(server.inFlight()).toBe(4999));
    const messages = () => client.messages.filter((message) => (message as { id: number }).id < 1000);
    for (let id = 1; id <= 5; id += 1) {
      client.send(call(id, 'query', 'caller'));
      await until(() => expect(messages()).toHaveLength(id));
    }
    client.send(call(6, 'subscription', 'silence'));
    await until(() => expect(messages()).toHaveLength(6));
    client.send({ id: 6, method: 'subscription.stop' });
    await until(() => expect(messages()).toHaveLength(7));
    client.send(call(7, 'query', 'caller'));
    await until(() => expect(messages().at(-1)).toMatchObject({ id: 7, result: { data: 'Ada' } }));
  });
});

describe('subscriptions that ignore their signal', () => {
  it.each(['/trpc/neverYields', '/v1/never-yields'])(
    'a subscription that ignores its signal ends when the client of %s disconnects',
    async (path) => {
      const { records, fetch, http, server } = await startSocketGateway();
      const disconnecting = new AbortController();
      const headers = { authorization: 'Bearer good-key', accept: 'text/event-stream' };
      await fetch(`${http}${path}`, { headers, signal: disconnecting.signal });
      expect(server.inFlight()).toBe(1);
      disconnecting.abort();
      await until(() => expect(server.inFlight()).toBe(0));
      await until(() => expect(records).toMatchObject([{ operation: 'neverYields', isStream: true }]));
    },
  );

  it('a subscription that ignores its signal ends when its WebSocket closes, and does not delay close()', async () => {
    const { connectClient, records, server } = await startSocketGateway();
    const client = connectClient();
    client.send(call(1, 'subscription', 'neverYields'));
    await until(() => expect(client.messages).toMatchObject([{ result: { type: 'started' } }]));
    client.socket.terminate();
    await until(() => expect(server.inFlight()).toBe(0));
    await until(() => expect(records.at(-1)).toMatchObject({ operation: 'neverYields', isStream: true }));
    expect(await server.close({ graceMs: 0 })).toBe(0);
  });
});
