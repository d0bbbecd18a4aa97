import { TokenBucket } from 'limiter';
import { RecentMap } from './recentMap.ts';
import type { Taken } from './state.ts';

/** Takes so many tokens of the bucket of this key: all of them or none. */
export type TokenBuckets = (key: string, count: number) => Taken;

/**
 * How many buckets are kept. 50,000 full ones take 21 MB. A key that is forgotten starts with a full bucket: whoever has
 * more keys than this, addresses that is, is not held by a limit of each.
 */
const mostBuckets = 50_000;

/** A token bucket for each key: it holds `size` tokens, begins full, and is full again after `windowMs` without use. */
export function createTokenBuckets(size: number, windowMs: number): TokenBuckets {
  const buckets = new RecentMap<TokenBucket>(mostBuckets);

  function fullBucket(): TokenBucket {
    const bucket = new TokenBucket({ bucketSize: size, tokensPerInterval: size, interval: windowMs });
    // It would begin empty (limiter 4.1).
    bucket.content = size;
    return bucket;
  }

  return (key, count) => {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = fullBucket();
      buckets.set(key, bucket);
    }
    const isTaken = bucket.tryRemoveTokens(count);
    return {
      isTaken,
      left: Math.floor(bucket.content),
      waitMs: isTaken ? 0 : bucket.getWaitTime(Math.min(count, size)),
      fullMs: bucket.getWaitTime(size),
    };
  };
}
