import { isThenable, type MaybePromise } from '../http/maybePromise.ts';
import { unref } from '../http/eventLoop.ts';
import { RecentMap } from './recentMap.ts';
import type { Bucket, State, TakeResult } from './state.ts';
import { takeTokens } from './takeTokens.ts';

/** Takes `count` tokens from the bucket of a key: all of them or none. */
export type TokenBuckets = (key: string, count: number) => TakeResult;

/** Like `TokenBuckets`, with buckets that processes share. */
export type SharedTokenBuckets = (key: string, count: number) => MaybePromise<TakeResult>;

/**
 * How many buckets are kept. A dropped key starts again with a full bucket, so a client with more keys (addresses) than
 * this is not limited.
 */
const mostBuckets = 50_000;

/** Creates token buckets, one per key, in the memory of this process. */
export function createTokenBuckets(size: number, windowMs: number): TokenBuckets {
  const buckets = new RecentMap<number>(mostBuckets);
  const bucket: Bucket = { size, windowMs };
  return (key, count) => {
    const { fullAt, taken } = takeTokens(buckets.get(key), count, bucket, performance.now());
    buckets.set(key, fullAt);
    return taken;
  };
}

/** The timeout of a state, and how long an unavailable state is not called, in milliseconds. */
const awayMs = 1000;

/**
 * Creates token buckets, one per key, in a shared state. While the state cannot be reached, each process counts
 * separately and logs that once to stderr. The returned function never throws and never rejects.
 * @param name the option that has the state, and the prefix of its keys
 */
export function createSharedTokenBuckets(
  name: 'failedAttempts' | 'rateLimit',
  state: State,
  bucket: Bucket,
): SharedTokenBuckets {
  const takeOwn = createTokenBuckets(bucket.size, bucket.windowMs);
  let isAway = false;
  let sendsAt = 0;

  function takeAway(key: string, count: number, cause: unknown): TakeResult {
    if (!isAway) {
      // oxlint-disable-next-line no-console -- the service runs, but its limit is higher than it should be
      console.error(
        `@petstore/gateway: the state of ${name} cannot be reached; each process counts for itself until it can.`,
        cause,
      );
    }
    isAway = true;
    sendsAt = performance.now() + awayMs;
    return takeOwn(key, count);
  }

  function response(taken: TakeResult): TakeResult {
    isAway = false;
    return taken;
  }

  return (key, count) => {
    if (isAway) {
      const now = performance.now();
      if (now < sendsAt) return takeOwn(key, count);
      // One call tries the state again; until it succeeds, the others count in this process.
      sendsAt = now + awayMs;
    }
    try {
      const taken = state.take(`${name} ${key}`, count, bucket);
      return isThenable(taken)
        ? soon(taken).then(response, (cause: unknown) => takeAway(key, count, cause))
        : response(taken);
    } catch (cause) {
      return takeAway(key, count, cause);
    }
  };
}

/** Rejects if a state does not respond in time. */
function soon(taken: PromiseLike<TakeResult>): Promise<TakeResult> {
  return new Promise((resolve, reject) => {
    const timer = unref(
      setTimeout(() => reject(new Error(`The state did not answer within ${awayMs} ms.`)), awayMs),
    );
    taken.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (cause: unknown) => {
        clearTimeout(timer);
        reject(cause);
      },
    );
  });
}
