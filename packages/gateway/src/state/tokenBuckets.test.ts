import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTokenBuckets, createSharedTokenBuckets } from './tokenBuckets.ts';
import { takeTokens } from './takeTokens.ts';
import { memoryState } from './memoryState.ts';
import type { State } from './sharedState.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

it('a token bucket is kept while 24,999 other keys are used', () => {
  const take = createTokenBuckets({ size: 1, windowMs: 60_000 });
  take('a', 1);
  for (let at = 0; at < 24_999; at += 1) take(`other ${at}`, 1);
  expect(take('a', 1)).toMatchObject({ isTaken: false });
});

const bucket = { size: 10, windowMs: 10_000 };

it.each<[what: string, fullAt: number | undefined, count: number, result: object, fullAtThen: number]>([
  ['a new bucket', undefined, 3, { isTaken: true, left: 7, waitMs: 0, fullMs: 3000 }, 8000],
  ['a full bucket', 5000, 10, { isTaken: true, left: 0, waitMs: 0, fullMs: 10_000 }, 15_000],
  ['a bucket that was full long ago', 1, 10, { isTaken: true, left: 0, waitMs: 0, fullMs: 10_000 }, 15_000],
  ['a bucket with 3 tokens', 12_000, 4, { isTaken: false, left: 3, waitMs: 1000, fullMs: 7000 }, 12_000],
  ['a bucket with 3 tokens', 12_000, 0, { isTaken: true, left: 3, waitMs: 0, fullMs: 7000 }, 12_000],
  // The wait until the bucket is full: it never has 20.
  ['a bucket with 3 tokens', 12_000, 20, { isTaken: false, left: 3, waitMs: 7000, fullMs: 7000 }, 12_000],
  // Tokens that are given back do not exceed the size.
  ['a bucket with 9 tokens', 6000, -4, { isTaken: true, left: 10, waitMs: 0, fullMs: 0 }, 5000],
  // After the clock was set back, the bucket is empty, not blocked for the difference.
  ['a bucket of the future', 3_600_000, 1, { isTaken: false, left: 0, waitMs: 1000, fullMs: 10_000 }, 15_000],
])('takeTokens from %s that is full at %s takes %i: %j', (_what, fullAt, count, taken, fullAtThen) => {
  expect(takeTokens(fullAt, count, bucket, 5000)).toEqual({ fullAt: fullAtThen, taken });
});

it('takeTokens gives each token of a bucket of any size once, despite the errors of floating-point numbers', () => {
  // A time of Date.now(), as shared states use.
  const now = 1_795_392_000_123;
  for (const windowMs of [1000, 60_000, 3_600_000]) {
    for (let size = 1; size <= 100; size += 1) {
      let fullAt: number | undefined;
      const results = Array.from({ length: size + 1 }, () => {
        const { fullAt: next, taken } = takeTokens(fullAt, 1, { size, windowMs }, now);
        fullAt = next;
        return taken.isTaken ? taken.left : 'none';
      });
      expect(results).toEqual([...Array.from({ length: size }, (_, at) => size - 1 - at), 'none']);
    }
  }
});

const unreachable = new Error('The database is away.');
// oxlint-disable-next-line no-console -- the gateway reports an unavailable state there
const printer = () => vi.mocked(console.error);
const line =
  'trpc-gateway: the shared state of rateLimit is unavailable; until it is available again, each process counts on its own.';

const quiet = () => printer().mockImplementation(() => {});

/** Returns the lines on stderr since the last call. */
const printed = () => {
  const texts = printer().mock.calls.map(([text]) => String(text));
  printer().mockClear();
  return texts;
};

it('shared token buckets are separate for each option', () => {
  const state = memoryState();
  void createSharedTokenBuckets('rateLimit', state, bucket)('a', 10);
  expect(createSharedTokenBuckets('failedAttempts', state, bucket)('a', 10)).toMatchObject({ isTaken: true });
});

it.each([
  [
    'throws',
    () => {
      throw unreachable;
    },
  ],
  ['rejects', async () => Promise.reject(unreachable)],
])(
  'shared token buckets count in each process while the state %s, log each outage once, and use the state again later',
  async (_how, take) => {
    quiet();
    const shared = memoryState();
    const state: State = { ...shared, take: vi.fn(take) };
    const first = createSharedTokenBuckets('rateLimit', state, bucket);
    expect(await first('a', 10)).toMatchObject({ isTaken: true, left: 0 });
    expect(await first('a', 1)).toMatchObject({ isTaken: false });
    // For a second, no other call uses the state.
    expect(state.take).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1000);
    expect(await first('a', 0)).toMatchObject({ left: 1 });
    expect(state.take).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(1000);
    vi.mocked(state.take).mockImplementation(shared.take);
    expect(await first('a', 4)).toMatchObject({ isTaken: true, left: 6 });
    expect(await first('a', 4)).toMatchObject({ isTaken: true, left: 2 });
    expect(printed()).toEqual([line]);
    vi.mocked(state.take).mockImplementation(take);
    await first('a', 0);
    expect(printed()).toEqual([line]);
  },
);

it('one call at a time uses a state that did not respond, while the others count in each process', async () => {
  quiet();
  const take = vi.fn(async () => new Promise<never>(() => {}));
  const first = createSharedTokenBuckets('rateLimit', { ...memoryState(), take }, bucket);
  const unanswered = first('a', 1);
  await vi.advanceTimersByTimeAsync(2000);
  const retry = first('a', 1);
  expect([first('a', 1), first('a', 1)]).toMatchObject([{ isTaken: true }, { isTaken: true }]);
  expect(take).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(1000);
  expect([await unanswered, await retry]).toMatchObject([{ isTaken: true }, { isTaken: true }]);
  expect(printed()).toEqual([line]);
});
