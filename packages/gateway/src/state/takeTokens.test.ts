import { expect, it } from 'vitest';
import { takeTokens } from './takeTokens.ts';

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
