import { initTRPC } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Policy } from '../../calls/policy.ts';
import type { SocketHandler } from '../../http/webSocket.ts';
import { bearer } from '../../auth/schemes/bearer.ts';
import { bytesAndKind, call, openSocket as open, quiet, range } from '../../testing/openSocket.ts';

const t = initTRPC.create({ isDev: false });

const credential = { method: 'connectionParams', data: { authorization: 'Bearer a' } };
const authentication = bearer({ verify: () => 'Ada' });

it('the record of a query has status 499 and no error if the client disconnects first', async () => {
  const ignoring = Promise.withResolvers();
  const router = t.router({
    gives: t.procedure.query(
      ({ signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    ),
    ignores: t.procedure.query(() => ignoring.promise),
  });
  const { errors, records, handler, send } = await open(router);
  await send([call(1, 'query', 'gives'), call(2, 'query', 'ignores')]);
  expect(handler.inFlight).toBe(2);
  const closed = handler.closed();
  await quiet();
  ignoring.resolve(undefined);
  await closed;
  expect(records).toMatchObject([
    { operation: 'gives', status: 499, error: undefined },
    { operation: 'ignores', status: 499, error: undefined },
  ]);
  expect(errors).toEqual([]);
});

it('a subscription that ignores its signal ends when its socket closes, and does not delay that', async () => {
  const router = t.router({
    neverYields: t.procedure.subscription(async function* () {
      await new Promise(() => {});
      yield 1;
    }),
  });
  const { handler, records, send } = await open(router);
  await send(call(1, 'subscription', 'neverYields'));
  await handler.closed();
  await quiet();
  expect(handler.inFlight).toBe(0);
  expect(records).toMatchObject([{ operation: 'neverYields', isStream: true }]);
});

describe('a client that does not read', () => {
  const full = [1013, 'The send buffer is full: the client is not reading.'];

  it('a WebSocket may have 64 KiB of unsent bytes before its credential is checked, and 1 MiB afterwards', async () => {
    const options = [{ authentication }, '/trpc?connectionParams=1'] as const;
    const { closes, handler, openAnother, peer, records, send } = await open(t.router({}), ...options);
    const other = await openAnother();
    const ping = (pinged: SocketHandler, bytes: number) => {
      peer.bufferedBytes = bytes;
      pinged.pinged();
      return closes.splice(0);
    };
    expect([ping(handler, 65_536), ping(other, 65_537)]).toEqual([[], [full]]);
    await send(credential);
    expect([ping(handler, 1_048_576), ping(handler, 1_048_577)]).toEqual([[], [full]]);
    expect(records.at(-1)).toMatchObject({ status: 429, limit: 'unsent-bytes' });
  });

  it.each(['query', 'subscription'])(
    'a WebSocket with more than 1 MiB of unsent bytes is closed when a %s sends more',
    async (method) => {
      const router = t.router({
        query: t.procedure.query(() => 1),
        // Observables have no backpressure.
        subscription: t.procedure.subscription(() => observable<number>((observer) => observer.next(1))),
      });
      const { closes, peer, records, send } = await open(router);
      peer.bufferedBytes = 1_048_577;
      await send(call(1, method, method));
      expect(closes[0]).toEqual(full);
      expect(records[0]).toMatchObject({ status: 429, limit: 'unsent-bytes' });
    },
  );

  it('more than 64 KiB of unsent bytes pause a subscription until they are sent', async () => {
    let pulled = 0;
    const router = t.router({
      flood: t.procedure.subscription(async function* () {
        for (; pulled < 3; pulled += 1) yield pulled;
      }),
    });
    const { frames, handler, peer, send } = await open(router);
    peer.bufferedBytes = 65_537;
    await send(call(1, 'subscription', 'flood'));
    handler.drained();
    await quiet();
    expect(pulled).toBe(0);
    peer.bufferedBytes = 65_536;
    handler.drained();
    await quiet();
    expect([pulled, frames.length]).toEqual([3, 5]);
  });
});

it('a policy before authentication runs once for a WebSocket whose credential is in its first message', async () => {
  const early = vi.fn();
  const late = vi.fn();
  const policies = [{ before: 'authentication' as const, admit: early }, { admit: late }];
  const { send } = await open(t.router({}), { authentication, policies }, '/trpc?connectionParams=1');
  expect([early.mock.calls.length, late.mock.calls.length]).toEqual([1, 0]);
  await send(credential);
  expect([early.mock.calls.length, late.mock.calls.length]).toEqual([1, 1]);
});

it('each call of a WebSocket has its own copy of the data that policies set when the socket was opened', async () => {
  const seen: unknown[] = [];
  const count: Policy<unknown, { opened: boolean; calls: number }> = {
    admit({ data, kind }) {
      if (kind === 'socket') data.opened = true;
      else data.calls = (data.calls ?? 0) + 1;
      seen.push({ ...data });
    },
  };
  const router = t.router({ ok: t.procedure.query(() => 1) });
  const { handler, send } = await open(router, { policies: [count] as never });
  await send(call(1, 'query', 'ok'), call(2, 'query', 'ok'));
  expect(seen).toEqual([{ opened: true }, { opened: true, calls: 1 }, { opened: true, calls: 1 }]);
  await handler.closed();
});

describe('many messages at once', () => {
  const router = t.router({ nothing: t.procedure.query(() => null) });
  const idsOf = (frames: readonly unknown[]) => frames.map((frame) => (frame as { id: unknown }).id);
  const query = (id: number) => call(id, 'query', 'nothing');
  const untilEnd = (frames: readonly unknown[], count: number) =>
    vi.waitFor(() => expect(frames).toHaveLength(count));

  it.each([
    ['2,000 queries in one message', [range(1, 2000).map(query)]],
    ['2,000 messages with a query', range(1, 2000).map(query)],
    ['2,000 messages with an unknown procedure', range(1, 2000).map((id) => call(id, 'query', 'none'))],
    [
      '2,000 calls without an id in one message',
      [range(1, 2000).map((at) => call(at < 2000 ? null : at, 'query', 'nothing'))],
    ],
  ])(
    '%s are answered in order and in slices, so that another socket is answered in between',
    async (_kind, messages) => {
      const { closes, frames, handler, openAnother } = await open(router);
      const other = await openAnother();
      for (const each of messages) handler.message(...bytesAndKind(each));
      other.message(...bytesAndKind(query(-1)));
      expect(frames.length).toBeLessThanOrEqual(501);
      await untilEnd(frames, 2001);
      const ids = idsOf(frames);
      expect(ids.indexOf(-1)).toBeLessThan(1000);
      expect(ids.filter((id) => id !== -1)).toEqual(
        ids[0] === null ? range(1, 2000).map((at) => (at < 2000 ? null : 2000)) : range(1, 2000),
      );
      expect(closes).toEqual([]);
    },
  );

  it('a socket is paused while its messages wait for the next turn', async () => {
    const { frames, handler, reading } = await open(router);
    for (const id of range(1, 1000)) handler.message(...bytesAndKind(query(id)));
    expect(reading.at(-1)).toBe('paused');
    await untilEnd(frames, 1000);
    await quiet();
    expect(reading.at(-1)).toBe('resumed');
  });

  it('a socket with more than 5,000 messages that wait for the next turn is closed with 1008', async () => {
    const { closes, handler, records } = await open(router);
    for (const id of range(1, 6000)) handler.message(...bytesAndKind(query(id)));
    expect(closes).toEqual([[1008, 'Too many messages were sent at once.']]);
    expect(records.at(-1)).toMatchObject({ status: 429, limit: 'messages' });
  });

  it('a socket is closed with 1008 after 100 messages that cannot be parsed', async () => {
    const { closes, frames, handler, records } = await open(router);
    for (const _ of range(1, 100)) handler.message(Buffer.from('{'), false);
    await untilEnd(frames, 100);
    expect(closes).toEqual([]);
    handler.message(Buffer.from('{'), false);
    // Where the first hundred have taken all of the turn, it is parsed in the next.
    await vi.waitFor(() => expect(closes).toEqual([[1008, 'More than 100 messages could not be parsed.']]));
    expect(records.at(-1)).toMatchObject({ status: 400 });
    expect(records.at(-2)).toMatchObject({ status: 429, limit: 'messages' });
  });

  it('messages that arrive while others wait are answered after these, and the socket stays open if at most 5,000 wait at a time', async () => {
    // In all more bytes than may wait at a time: 260,000.
    const { closes, frames, handler } = await open(router, { maxBodySize: 130_000 });
    for (const id of range(1, 3500)) handler.message(...bytesAndKind(query(id)));
    while (frames.length < 1500) await new Promise(setImmediate);
    expect(frames.length).toBeLessThan(3500);
    for (const id of range(3501, 6000)) handler.message(...bytesAndKind(query(id)));
    expect(closes).toEqual([]);
    await untilEnd(frames, 6000);
    expect(idsOf(frames)).toEqual(range(1, 6000));
  });

  it('messages with more calls than may wait on a socket are read when earlier calls have run', async () => {
    const { frames, handler } = await open(router);
    for (const round of range(1, 8)) {
      handler.message(...bytesAndKind(range(1, 1000).map((id) => query(1000 * (round - 1) + id))));
    }
    await untilEnd(frames, 8000);
    expect(frames.filter((frame) => Object.hasOwn(frame as object, 'error'))).toEqual([]);
  });

  it('of the calls that run on a socket at a time, those beyond 5,000 get TOO_MANY_REQUESTS', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<null>();
    const waiting = t.router({ wait: t.procedure.query(() => released) });
    const { frames, handler } = await open(waiting, { maxInFlight: 10_000 });
    for (const id of range(1, 5001)) handler.message(...bytesAndKind(call(id, 'query', 'wait')));
    await untilEnd(frames, 1);
    expect(frames).toMatchObject([{ id: 5001, error: { data: { code: 'TOO_MANY_REQUESTS' } } }]);
    release(null);
    await untilEnd(frames, 5001);
    handler.message(...bytesAndKind(call(5002, 'query', 'wait')));
    await untilEnd(frames, 5002);
    expect(frames.at(-1)).toMatchObject({ id: 5002, result: {} });
  });

  it('of the subscriptions of a socket, those beyond 5,000 get TOO_MANY_REQUESTS, until one is stopped', async () => {
    const watching = t.router({ watch: t.procedure.subscription(() => observable<number>(() => {})) });
    const { frames, handler, records } = await open(watching);
    handler.message(...bytesAndKind(range(1, 5001).map((id) => call(id, 'subscription', 'watch'))));
    await untilEnd(frames, 5001);
    expect(frames.filter((frame) => Object.hasOwn(frame as object, 'error'))).toMatchObject([
      {
        id: 5001,
        error: {
          message:
            '5000 calls or subscriptions are open on this WebSocket, which is the limit. End some of them, or open another WebSocket.',
          data: { code: 'TOO_MANY_REQUESTS', httpStatus: 429, path: 'watch' },
        },
      },
    ]);
    expect(records).toMatchObject([{ operation: 'watch', limit: 'socket-calls' }]);
    handler.message(...bytesAndKind({ id: 1, method: 'subscription.stop' }));
    await vi.waitFor(() => expect(frames.at(-1)).toEqual({ id: 1, result: { type: 'stopped' } }));
    handler.message(...bytesAndKind(call(5001, 'subscription', 'watch')));
    await vi.waitFor(() => expect(frames.at(-1)).toEqual({ id: 5001, result: { type: 'started' } }));
  });

  it('calls that wait for the next turn do not run after their socket was closed', async () => {
    let added = 0;
    const { handler } = await open(t.router({ add: t.procedure.mutation(() => (added += 1)) }));
    handler.message(...bytesAndKind(range(1, 2000).map((id) => call(id, 'mutation', 'add'))));
    const before = added;
    void handler.closed();
    await quiet();
    expect([before < 2000, added]).toEqual([true, before]);
  });

  it.each([
    [65_536, []],
    [65_537, [[1009, 'The connection parameters are larger than 65536 bytes.']]],
  ])('connection parameters of %i bytes close the socket with: %j', async (bytes, expected) => {
    const { closes, handler } = await open(router, { authentication }, '/trpc?connectionParams=1');
    handler.message(Buffer.from(JSON.stringify(credential).padEnd(bytes)), false);
    await quiet();
    expect(closes).toEqual(expected);
  });

  it('a message stops a subscription that an earlier message of the same turn starts, although both wait', async () => {
    const begun: number[] = [];
    const { frames, handler, records } = await open(
      t.router({
        nothing: t.procedure.query(() => null),
        watch: t.procedure.subscription(async function* () {
          begun.push(1);
          yield 1;
        }),
      }),
    );
    for (const id of range(1, 1000)) handler.message(...bytesAndKind(query(id)));
    handler.message(...bytesAndKind(call(2000, 'subscription', 'watch')));
    handler.message(...bytesAndKind({ id: 2000, method: 'subscription.stop' }));
    await untilEnd(frames, 1001);
    expect([frames.at(-1), begun]).toEqual([{ id: 2000, result: { type: 'stopped' } }, []]);
    // A call that never ran has no record.
    expect(records).toHaveLength(1000);
  });
});

it('the open subscriptions of a socket have inputs of at most maxBodySize together', async () => {
  const { closes, frames, send } = await open(
    t.router({
      watch: t.procedure.input(String).subscription(async function* ({ signal }) {
        yield 1;
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      }),
    }),
    { maxBodySize: 65_536 },
  );
  const large = (id: number) => call(id, 'subscription', 'watch', { input: 'x'.repeat(20_000) });
  const full = {
    error: {
      code: -32_029,
      data: { code: 'TOO_MANY_REQUESTS', httpStatus: 429, path: 'watch' },
      message:
        'The open subscriptions of this WebSocket have inputs of more than 65536 bytes together, which is the limit. End some of them, or open another WebSocket.',
    },
  };
  await send(large(1), large(2), large(3));
  frames.length = 0;
  await send(large(4));
  expect(frames).toMatchObject([{ id: 4, ...full }]);
  // The one that has its id next can be stopped.
  await send([large(4), call(4, 'subscription', 'watch', { input: '' })]);
  await send({ id: 4, method: 'subscription.stop' });
  expect(frames).toContainEqual({ id: 4, result: { type: 'stopped' } });
  await send({ id: 2, method: 'subscription.stop' }, large(5));
  await vi.waitFor(() => expect(frames).toContainEqual({ id: 2, result: { type: 'stopped' } }));
  await send(large(6));
  expect(frames).toContainEqual({ id: 6, result: { type: 'started' } });
  // The parts of a message count by their own size.
  await send({ id: 1, method: 'subscription.stop' }, { id: 3, method: 'subscription.stop' });
  const stops = Array.from({ length: 500 }, () => ({ id: 0, method: 'subscription.stop' }));
  frames.length = 0;
  for (const id of [7, 8, 9]) await send([large(id), ...stops]);
  expect(frames).toContainEqual({ id: 8, result: { type: 'started' } });
  expect(frames).toContainEqual(expect.objectContaining({ id: 9, error: expect.anything() as unknown }));
  expect(closes).toEqual([]);
});

const sendText = (handler: SocketHandler, message: string) => handler.message(Buffer.from(message), false);

it('keepAlive pings a silent client, then terminates its connection, and stops when the socket is closed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const sockets = { keepAlive: { enabled: true, pingMs: 100, pongWaitMs: 50 } };
  const { closes, frames, handler } = await open(t.router({}), { sockets });
  vi.advanceTimersByTime(90);
  sendText(handler, 'PONG');
  vi.advanceTimersByTime(90);
  expect(frames).toEqual([]);
  vi.advanceTimersByTime(10);
  expect([frames, closes]).toEqual([['PING'], []]);
  sendText(handler, 'PONG');
  vi.advanceTimersByTime(99);
  expect(closes).toEqual([]);
  vi.advanceTimersByTime(51);
  expect([frames, closes]).toEqual([['PING', 'PING'], ['terminated']]);
  const gone = await open(t.router({}), { sockets });
  await gone.handler.closed();
  expect(vi.getTimerCount()).toBe(0);
});
