import { collectGarbage } from '@petstore/testing/collectGarbage';
import { initTRPC, TRPCError } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import { expect, it, vi } from 'vitest';
import type { GatewayMeta } from '../../procedures/meta.ts';
import { memoryState } from '../../state/memoryState.ts';
import { bytesAndKind, call, openSocket, quiet, range, type Options } from '../../testing/openSocket.ts';
import { SubscriptionStarts } from './subscriptionStarts.ts';

const watch = (id: number, input = id) => call(id, 'subscription', 'watch', { input });

/** A state in memory, which one that processes share is asynchronous unlike. */
function stateOf(kind: string) {
  const { take, ...rest } = memoryState();
  if (!kind.includes('shared')) return { ...rest, take };
  return { ...rest, take: async (...args: Parameters<typeof take>) => take(...args) };
}

/** Opens two sockets of a gateway whose subscriptions start when `release` is called, those of input 0 at once. */
async function openTwo(options: Options) {
  const started: number[] = [];
  const releases: (() => void)[] = [];
  const meta = initTRPC.meta<GatewayMeta>().create({ isDev: false });
  const router = meta.router({
    watch: meta.procedure
      .meta({ callTimeoutMs: 60_000 })
      .input(Number)
      .subscription(async ({ input }) => {
        started.push(input);
        if (input > 0) await new Promise<void>((resolve) => releases.push(resolve));
        return (async function* () {})();
      }),
    immediate: meta.procedure.input(Number).subscription(({ input }) => {
      started.push(input);
      return observable(() => {});
    }),
  });
  const socket = await openSocket(router, options);
  const release = async () => {
    releases.shift()?.();
    await quiet();
  };
  return { ...socket, other: await socket.openAnother(), release, started };
}

it('at most half of maxInFlight start at once, the sockets in turn and those of a socket in order', async () => {
  const { callsInFlight, frames, handler, other, release, started } = await openTwo({ maxInFlight: 4 });
  handler.message(...bytesAndKind(range(1, 5).map((id) => watch(id))));
  other.message(...bytesAndKind([11, 12].map((id) => watch(id))));
  await quiet();
  expect([started, callsInFlight()]).toEqual([[1, 2], 2]);
  for (const expected of [3, 11, 4, 12, 5]) {
    await release();
    expect(started.at(-1)).toBe(expected);
  }
  await release();
  await release();
  await vi.waitFor(() =>
    expect(frames.filter((frame) => JSON.stringify(frame).includes('stopped'))).toHaveLength(7),
  );
});

it('a socket that closes frees the places of its subscriptions once, and those of it that wait never start', async () => {
  const { handler, other, release, started } = await openTwo({ maxInFlight: 8 });
  handler.message(...bytesAndKind(range(1, 6).map((id) => watch(id))));
  other.message(...bytesAndKind(range(11, 18).map((id) => watch(id))));
  await quiet();
  void handler.closed();
  await quiet();
  expect(started).toEqual([1, 2, 3, 4, 11, 12, 13, 14]);
  // Its late results free no place again.
  for (const _ of range(1, 4)) await release();
  expect(started).toHaveLength(8);
});

it('a socket that closes while its subscriptions wait to start is freed', async () => {
  let last: WeakRef<object> | undefined;
  const createContext = () => {
    const context = {};
    last = new WeakRef(context);
    return context;
  };
  const { handler, openAnother } = await openTwo({ createContext, maxInFlight: 2 });
  handler.message(...bytesAndKind(watch(1)));
  await openAnother().then(async (waiting) => {
    waiting.message(...bytesAndKind(watch(2)));
    await quiet();
    await waiting.closed();
  });
  await vi.waitFor(() => {
    collectGarbage();
    expect(last?.deref()).toBeUndefined();
  });
});

it('a subscription that is rejected, or of an unknown procedure, is answered while others wait to start, and takes no place', async () => {
  const { frames, handler, started } = await openTwo({ maxInFlight: 2, maxBodySize: 1000 });
  handler.message(...bytesAndKind([watch(1), watch(2)]));
  for (const id of [3, 4]) {
    handler.message(...bytesAndKind(call(id, 'subscription', 'none')));
    handler.message(...bytesAndKind(call(id + 10, 'subscription', 'watch', { input: 'x'.repeat(1000) })));
  }
  handler.message(...bytesAndKind(watch(5)));
  await quiet();
  expect(started).toEqual([1]);
  expect(frames).toMatchObject([
    { id: 3, error: { data: { code: 'NOT_FOUND' } } },
    { id: 13, error: { data: { code: 'PAYLOAD_TOO_LARGE' } } },
    { id: 4, error: { data: { code: 'NOT_FOUND' } } },
    { id: 14, error: { data: { code: 'PAYLOAD_TOO_LARGE' } } },
  ]);
});

it('a subscription of a socket whose context fails gets its error while others wait to start', async () => {
  let contexts = 0;
  const createContext = async () => {
    contexts += 1;
    if (contexts === 3) throw new TRPCError({ code: 'CONFLICT' });
    return {};
  };
  const { frames, handler, openAnother } = await openTwo({ maxInFlight: 2, createContext });
  handler.message(...bytesAndKind([watch(1), watch(2)]));
  const broken = await openAnother();
  broken.message(...bytesAndKind(watch(3)));
  await quiet();
  expect(frames).toMatchObject([null, 3].map((id) => ({ id, error: { data: { code: 'CONFLICT' } } })));
});

it.each(['a rate limit in memory', 'a rate limit of a shared state'])(
  'the subscription beside 5,000 of a socket gets TOO_MANY_REQUESTS while these wait to start, with %s',
  async (kind) => {
    const rateLimit = { calls: 100_000, windowMs: 10_000 };
    const { frames, handler } = await openTwo({ maxInFlight: 2, rateLimit, state: stateOf(kind) });
    handler.message(...bytesAndKind(range(1, 5001).map((id) => watch(id))));
    await vi.waitFor(() =>
      expect(frames).toMatchObject([{ id: 5001, error: { data: { code: 'TOO_MANY_REQUESTS' } } }]),
    );
  },
);

it.each(['a rate limit in memory', 'a rate limit of a shared state'])(
  'a message larger than maxBodySize gets PAYLOAD_TOO_LARGE for each of its calls, of which none runs, with %s',
  async (kind) => {
    const rateLimit = { calls: 100, windowMs: 10_000 };
    const { closes, frames, handler, records, started } = await openTwo({
      maxBodySize: 200,
      rateLimit,
      state: stateOf(kind),
    });
    const large = call(2, 'subscription', 'watch', { input: 0, x: 'x'.repeat(200) });
    handler.message(...bytesAndKind([watch(1), large, call(3, 'query', 'none')]));
    await vi.waitFor(() => expect(frames).toHaveLength(3));
    const message =
      'The message is larger than 200 bytes (maxBodySize). Its calls did not run: send fewer or smaller ones at once, or send them over HTTP.';
    expect(frames.filter((frame) => JSON.stringify(frame).includes(message))).toHaveLength(2);
    expect(frames).toMatchObject([
      { id: 1, error: { data: { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 } } },
      { id: 2, error: { data: { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 } } },
      { id: 3, error: { data: { code: 'NOT_FOUND' } } },
    ]);
    expect(records.slice(1, 3)).toMatchObject(
      [1, 2].map(() => ({ operation: 'watch', status: 413, limit: 'message-bytes' })),
    );
    expect([started, closes]).toEqual([[], []]);
    handler.message(...bytesAndKind(watch(2, 0)));
    await vi.waitFor(() => expect(started).toEqual([0]));
  },
);

it('a subscription that has waited for callTimeoutMs gets SERVICE_UNAVAILABLE, and the place stays with the one that starts', async () => {
  const { frames, handler, records, release, started } = await openTwo({
    maxInFlight: 2,
    callTimeoutMs: 50,
  });
  handler.message(...bytesAndKind([watch(1), watch(2), watch(3)]));
  await vi.waitFor(() => expect(frames).toHaveLength(2));
  const error = {
    message:
      'The subscription did not start within 50 ms (callTimeoutMs), since too many others are starting. Subscribe again.',
    data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 },
  };
  expect(frames).toMatchObject([2, 3].map((id) => ({ id, error })));
  expect(records.slice(1)).toMatchObject(
    [2, 3].map(() => ({ status: 503, limit: 'queue-time', error: undefined })),
  );
  handler.message(...bytesAndKind([watch(2), watch(4)]));
  await quiet();
  expect(started).toEqual([1]);
  await release();
  expect(started).toEqual([1, 2]);
});

it('subscriptions that wait start within the budget of a turn of the event loop', async () => {
  const { handler, release, started } = await openTwo({ maxInFlight: 2 });
  handler.message(...bytesAndKind(watch(1)));
  handler.message(
    ...bytesAndKind(range(2, 3000).map((id) => call(id, 'subscription', 'immediate', { input: id }))),
  );
  await vi.waitFor(() => expect(handler.inFlight).toBe(1));
  await quiet();
  const mostInTurn = new Promise<number>((resolve) => {
    let before = started.length;
    let most = 0;
    const look = () => {
      most = Math.max(most, started.length - before);
      before = started.length;
      if (before < 3000) setImmediate(look);
      else resolve(most);
    };
    look();
  });
  await release();
  expect(await mostInTurn).toBeLessThanOrEqual(1001);
});

it('thousands of waiting subscriptions that end as they start do not start within each other', async () => {
  const starts = new SubscriptionStarts({ callTimeoutMs: 60_000, maxInFlight: 2 });
  let depth = 0;
  let deepest = 0;
  let begun = 0;
  const add = (isFirst: boolean) => {
    const startNow = () => {
      depth += 1;
      begun += 1;
      deepest = Math.max(deepest, depth);
      if (!isFirst) starts.ended();
      depth -= 1;
    };
    starts.add({ startedAt: performance.now(), startNow, reject() {} }, {});
  };
  for (let id = 0; id < 5000; id += 1) add(id === 0);
  starts.ended();
  await vi.waitFor(() => expect(begun).toBe(5000));
  expect(deepest).toBe(1);
});
