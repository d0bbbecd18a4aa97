import type { MaybePromise } from '../http/maybePromise.ts';

/** A token bucket: it holds `size` tokens, starts full, and is full again after `windowMs` without use. */
export interface Bucket {
  readonly size: number;
  readonly windowMs: number;
}

/** The result of taking tokens from a bucket. */
export interface TakeResult {
  readonly isTaken: boolean;
  /** The number of tokens left, as far as this process knows. */
  readonly left: number;
  /** Milliseconds until the bucket has the requested tokens, at most until it is full; 0 if the tokens were taken. */
  readonly waitMs: number;
  /** Milliseconds until the bucket is full again. */
  readonly fullMs: number;
}

/**
 * Storage for idempotency keys and rate limits. Processes with the same state share both. Each function may return a
 * value or a promise, and throws or rejects if the state cannot be reached; a promise that does not settle is abandoned
 * after a deadline. `add`, `delete` and `take` must be atomic. Keys may contain credentials and may be long: an
 * implementation that writes to disk or to a database should store a digest of the key.
 */
export interface State {
  /**
   * Stores a value for `ttlMs` milliseconds, unless the key already has one. It is atomic: if several processes call it
   * at once, exactly one stores its value. Until it expires, only `set` and `delete` may remove the value: the call with
   * this key is running.
   * @returns the existing value of the key; `undefined` if the new value was stored. Each call of the gateway has a
   *   different value, so an implementation that repeats a write whose reply was lost may return `value` itself
   */
  readonly add: (key: string, value: string, ttlMs: number) => MaybePromise<string | undefined>;
  /**
   * Stores a value for `ttlMs` milliseconds, replacing any existing value.
   * @param caller whose value it is: an opaque digest, the same for each value of a caller. A state with a limit should
   *   remove values of the callers with the most
   */
  readonly set: (key: string, value: string, ttlMs: number, caller: string) => MaybePromise<void>;
  /** Removes a key if it has this value. The gateway may repeat it after the key was stored again. */
  readonly delete: (key: string, value: string) => MaybePromise<void>;
  /** Takes `count` tokens from the bucket of a key: all of them or none. A `count` of 0 reads the bucket. */
  readonly take: (key: string, count: number, bucket: Bucket) => MaybePromise<TakeResult>;
}
