import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryState } from './memoryState.ts';
import type { State } from './state.ts';
import { createSharedTokenBuckets } from './tokenBuckets.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const bucket = { size: 10, windowMs: 10_000 };
const unreachable = new Error('The database is away.');
// oxlint-disable-next-line no-console -- the gateway reports an unavailable state there
const printer = () => vi.mocked(console.error);
const line =
  'trpc-gateway: the shared state of rateLimit is unavailable; until it is available again, each process counts on its own.';

const quiet = () => printer().mockImplementation(() => {});

/** Expects these lines on stderr. */
const expectPrinted = (lines: readonly string[]) => {
  expect(printer().mock.calls.map(([text]) => String(text))).toEqual(lines);
  printer().mockClear();
};

describe('createSharedTokenBuckets', () => {
  it('shared token buckets count across processes, and separately for each option', () => {
    const state = memoryState();
    const first = createSharedTokenBuckets('rateLimit', state, bucket);
    const second = createSharedTokenBuckets('rateLimit', state, bucket);
    expect(first('a', 7)).toMatchObject({ isTaken: true, left: 3 });
    expect(second('a', 4)).toEqual({ isTaken: false, left: 3, waitMs: 1000, fullMs: 7000 });
    expect(second('b', 10)).toMatchObject({ isTaken: true });
    expect(createSharedTokenBuckets('failedAttempts', state, bucket)('a', 10)).toMatchObject({
      isTaken: true,
    });
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
    'shared token buckets count in each process while the state %s, log it once, and use the state again later',
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
      expectPrinted([line]);
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
    expectPrinted([line]);
  });

  it('shared token buckets log a second outage of the state', async () => {
    quiet();
    const shared = memoryState();
    let isDown = true;
    const state: State = {
      ...shared,
      take: async (...args) => (isDown ? Promise.reject(unreachable) : shared.take(...args)),
    };
    const take = createSharedTokenBuckets('rateLimit', state, bucket);
    for (const down of [true, false, true]) {
      isDown = down;
      // oxlint-disable-next-line no-await-in-loop -- one outage after the other
      expect(await take('a', 1)).toMatchObject({ isTaken: true });
      vi.advanceTimersByTime(1000);
    }
    expectPrinted([line, line]);
  });

  it('shared token buckets count in each process if the state does not respond within a second', async () => {
    quiet();
    const state: State = { ...memoryState(), take: async () => new Promise(() => {}) };
    const first = createSharedTokenBuckets('rateLimit', state, bucket);
    const result = first('a', 1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await result).toMatchObject({ isTaken: true, left: 9 });
    expectPrinted([line]);
  });
});
