import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTokenBuckets } from './tokenBuckets.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('createTokenBuckets', () => {
  it('a token bucket starts full, gives all requested tokens or none, and returns the time to wait', () => {
    const take = createTokenBuckets({ size: 10, windowMs: 10_000 });
    expect(take('a', 7)).toEqual({ isTaken: true, left: 3, waitMs: 0, fullMs: 7000 });
    expect(take('a', 4)).toEqual({ isTaken: false, left: 3, waitMs: 1000, fullMs: 7000 });
    expect(take('b', 10)).toMatchObject({ isTaken: true, left: 0 });
    vi.advanceTimersByTime(1000);
    expect(take('a', 4)).toMatchObject({ isTaken: true, left: 0 });
    vi.advanceTimersByTime(60_000);
    expect(take('a', 1)).toMatchObject({ isTaken: true, left: 9 });
  });

  it('a token bucket is kept while 24,999 other keys are used', () => {
    const take = createTokenBuckets({ size: 1, windowMs: 60_000 });
    take('a', 1);
    for (let at = 0; at < 24_999; at += 1) take(`other ${at}`, 1);
    expect(take('a', 1)).toMatchObject({ isTaken: false });
  });

  it('a token bucket never gives more tokens than its size plus those added since', () => {
    const steps = fc.array(
      fc.record({ count: fc.integer({ min: 1, max: 12 }), ms: fc.integer({ min: 0, max: 5000 }) }),
    );
    fc.assert(
      fc.property(steps, (requests) => {
        const take = createTokenBuckets({ size: 10, windowMs: 10_000 });
        let total = 0;
        let passed = 0;
        for (const { count, ms } of requests) {
          vi.advanceTimersByTime(ms);
          passed += ms;
          const { isTaken } = take('a', count);
          if (isTaken) total += count;
          expect(total).toBeLessThanOrEqual(10 + passed / 1000 + 1e-3);
        }
      }),
    );
  });

  it('a token bucket has the requested tokens after the wait that it returned', () => {
    const counts = fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 1 });
    fc.assert(
      fc.property(counts, (requests) => {
        const take = createTokenBuckets({ size: 10, windowMs: 10_000 });
        for (const count of requests) {
          const { isTaken, waitMs } = take('a', count);
          vi.advanceTimersByTime(waitMs);
          expect(isTaken || take('a', count).isTaken).toBe(true);
        }
      }),
    );
  });
});
