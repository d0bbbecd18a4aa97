import type { MaybePromise } from '../http/maybePromise.ts';

/** A token bucket: it holds `size` tokens, begins full, and is full again after `windowMs` without use. */
export interface Bucket {
  readonly size: number;
  readonly windowMs: number;
}

/** What a bucket answered. */
export interface Taken {
  readonly isTaken: boolean;
  /** How many tokens are left, as far as this process knows. */
  readonly left: number;
  /** How long until as many are there as were asked for; of more than a bucket holds, until it is full. 0 where taken. */
  readonly waitMs: number;
  /** How long until the bucket is full again. */
  readonly fullMs: number;
}

/**
 * What idempotency keys and limits remember. Processes that use the same state share both. Each function may return a
 * value or a promise of it, and throws or rejects while the state cannot be reached. Keys may hold credentials and be long:
 * a state that is stored has a digest in their place.
 */
export interface State {
  /**
   * Stores a value under a key that has none, until `ttlMs` have passed. Of several processes exactly one stores it.
   * @returns the value that the key has already; `undefined` where it was stored
   */
  readonly add: (key: string, value: string, ttlMs: number) => MaybePromise<string | undefined>;
  /** Stores a value under a key, in place of any other. */
  readonly set: (key: string, value: string, ttlMs: number) => MaybePromise<void>;
  /** Removes a key. */
  readonly delete: (key: string) => MaybePromise<void>;
  /** Takes `count` tokens of the bucket of a key: all of them or none. 0 tokens reads the bucket. */
  readonly take: (key: string, count: number, bucket: Bucket) => MaybePromise<Taken>;
}
