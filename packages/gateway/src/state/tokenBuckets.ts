import { isThenable, type MaybePromise } from '../http/maybePromise.ts';
import { warn } from '../http/warnings.ts';
import { RecentMap } from './recentMap.ts';
import type { Bucket, State, TakeResult } from './sharedState.ts';
import { withinStateTimeout } from './stateTimeout.ts';
import { takeTokens } from './takeTokens.ts';

/** Takes `count` tokens from the bucket of a key: all of them or none. */
export type TokenBuckets = (key: string, count: number) => TakeResult;

/** How many buckets are kept. A dropped key starts again with a full one: a client with more addresses is not limited. */
const maxBuckets = 50_000;

/** Creates token buckets, one per key, in the memory of this process. */
export function createTokenBuckets(bucket: Bucket): TokenBuckets {
  const buckets = new RecentMap<number>(maxBuckets);
  return (key, count) => {
    const { fullAt, taken } = takeTokens(buckets.get(key), count, bucket, performance.now());
    buckets.set(key, fullAt);
    return taken;
  };
}

/** The timeout of a state, and how long an unavailable state is not called, in milliseconds. */
const stateTimeoutMs = 1000;

/**
 * In a shared state, or in memory without one; while the state cannot be reached, each process counts alone and logs
 * that once to stderr. It never throws or rejects. `name`: the option, and the prefix of its keys.
 */
export function createSharedTokenBuckets(
  name: 'failedAttempts' | 'rateLimit',
  state: State | undefined,
  bucket: Bucket,
): (key: string, count: number) => MaybePromise<TakeResult> {
  const takeLocally = createTokenBuckets(bucket);
  if (state === undefined) return takeLocally;
  /** When an unavailable state is tried again (`performance.now()`); `undefined` while it is available. */
  let retriesAt: number | undefined;

  return (key, count) => {
    if (retriesAt !== undefined) {
      const now = performance.now();
      if (now < retriesAt) return takeLocally(key, count);
      // One call tries the state again; until it succeeds, the others count in this process.
      retriesAt = now + stateTimeoutMs;
    }
    const succeed = (result: TakeResult) => {
      retriesAt = undefined;
      return result;
    };
    const fail = (cause: unknown) => {
      if (retriesAt === undefined) {
        warn(
          `the shared state of ${name} is unavailable; until it is available again, each process counts on its own.`,
          cause,
        );
      }
      retriesAt = performance.now() + stateTimeoutMs;
      return takeLocally(key, count);
    };
    try {
      const result = state.take(`${name} ${key}`, count, bucket);
      return isThenable(result)
        ? withinStateTimeout(result, stateTimeoutMs).then(succeed, fail)
        : succeed(result);
    } catch (cause) {
      return fail(cause);
    }
  };
}
