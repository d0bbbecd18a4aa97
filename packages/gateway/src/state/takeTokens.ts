import type { Bucket, TakeResult } from './sharedState.ts';

/** For floating-point errors, in tokens and ms: with 1e-6, a shared bucket of 6 calls per second gave 5. */
const epsilon = 1e-3;

/**
 * Takes tokens from a bucket: all of them or none. Use it to implement `State.take`: a state stores one number per
 * bucket (generic cell rate algorithm, ITU-T I.371).
 * @param fullAt the stored number: when the bucket is full again, in milliseconds; `undefined` for a bucket that was
 *   never used
 * @param now the current time, in milliseconds of the same clock
 * @returns the new `fullAt` to store, and the result of `take`
 */
export function takeTokens(
  fullAt: number | undefined,
  count: number,
  { size, windowMs }: Bucket,
  now: number,
): { readonly fullAt: number; readonly taken: TakeResult } {
  const msPerToken = windowMs / size;
  // If the clock was set back, the bucket is at most empty.
  const usedMs = Math.min(Math.max((fullAt ?? now) - now, 0), windowMs);
  const takenMs = usedMs + count * msPerToken;
  const isTaken = takenMs <= windowMs + epsilon * msPerToken;
  const fullMs = isTaken ? Math.max(takenMs, 0) : usedMs;
  return {
    fullAt: now + fullMs,
    taken: {
      isTaken,
      left: Math.max(0, Math.floor((windowMs - fullMs) / msPerToken + epsilon)),
      waitMs: isTaken ? 0 : wholeMs(usedMs + Math.min(count, size) * msPerToken - windowMs),
      fullMs: wholeMs(fullMs),
    },
  };
}

const wholeMs = (ms: number) => Math.max(0, Math.ceil(ms - epsilon));
