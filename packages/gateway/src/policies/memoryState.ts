import { performance } from '../http/performance.ts';
import { GatewayError } from '../procedures/gatewayError.ts';
import type { State } from './state.ts';
import { createTokenBuckets, type TokenBuckets } from './tokenBuckets.ts';

/** Options of `memoryState()`. */
export interface MemoryStateOptions {
  /**
   * The approximate memory limit for stored values, in bytes. Over the limit, the oldest values are removed as if they
   * had expired. Default: 67108864 (64 MiB).
   */
  readonly maxBytes?: number;
}

interface StoredValue {
  readonly value: string;
  /** A time of `performance.now()`. */
  readonly expiresAt: number;
}

/** The overhead of an entry besides its key and value, in bytes (Node 22). */
const entryBytes = 200;

/**
 * Creates a state in the memory of this process. Other processes cannot see it, and it is lost when the process ends.
 * @throws {GatewayError} for an invalid `maxBytes`
 */
export function memoryState({ maxBytes = 67_108_864 }: MemoryStateOptions = {}): State {
  if (!(maxBytes > 0)) {
    throw new GatewayError(`memoryState: maxBytes is ${maxBytes}; it must be a positive number of bytes.`);
  }
  // In insertion order, which is also the order of expiry if all entries have the same lifetime.
  const entries = new Map<string, StoredValue>();
  const buckets = new Map<string, TokenBuckets>();
  let bytes = 0;
  const sizeOf = (key: string, { value }: StoredValue) => entryBytes + 2 * (key.length + value.length);

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    bytes -= sizeOf(key, entry);
  }

  function store(key: string, entry: StoredValue): void {
    remove(key);
    const now = performance.now();
    const size = sizeOf(key, entry);
    for (const [oldest, { expiresAt }] of entries) {
      if (expiresAt > now && bytes + size <= maxBytes) break;
      remove(oldest);
    }
    entries.set(key, entry);
    bytes += size;
  }

  return {
    add(key, value, ttlMs) {
      const now = performance.now();
      const existing = entries.get(key);
      if (existing !== undefined && existing.expiresAt > now) return existing.value;
      store(key, { value, expiresAt: now + ttlMs });
      return undefined;
    },
    set(key, value, ttlMs) {
      store(key, { value, expiresAt: performance.now() + ttlMs });
    },
    delete: remove,
    take(key, count, { size, windowMs }) {
      const bucketKind = `${size} ${windowMs}`;
      let take = buckets.get(bucketKind);
      if (take === undefined) {
        take = createTokenBuckets(size, windowMs);
        buckets.set(bucketKind, take);
      }
      return take(key, count);
    },
  };
}
