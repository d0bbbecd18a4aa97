import type { Bucket, Taken } from './state.ts';

/** Floating-point error that is no token, and no millisecond. */
const epsilon = 1e-6;

/**
 * Takes tokens of a bucket: all of them or none. One number is all that a state stores of a bucket (the generic cell rate
 * algorithm, ITU-T I.371).
 * @param fullAt when the bucket is full again, in milliseconds; `undefined` for one that was never used
 * @param now by the same clock
 * @returns the new `fullAt`, and the answer
 */
export function takeTokens(
  fullAt: number | undefined,
  count: number,
  { size, windowMs }: Bucket,
  now: number,
): { readonly fullAt: number; readonly taken: Taken } {
  const msPerToken = windowMs / size;
  // A clock that was set back does not make a bucket emptier than empty.
  const before = Math.min(Math.max((fullAt ?? now) - now, 0), windowMs);
  const wanted = before + count * msPerToken;
  const isTaken = wanted <= windowMs + epsilon * msPerToken;
  const fullMs = isTaken ? Math.max(wanted, 0) : before;
  return {
    fullAt: now + fullMs,
    taken: {
      isTaken,
      left: Math.max(0, Math.floor((windowMs - fullMs) / msPerToken + epsilon)),
      waitMs: isTaken ? 0 : wholeMs(before + Math.min(count, size) * msPerToken - windowMs),
      fullMs: wholeMs(fullMs),
    },
  };
}

const wholeMs = (ms: number) => Math.max(0, Math.ceil(ms - epsilon));
