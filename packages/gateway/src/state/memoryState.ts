import { performance } from '../http/eventLoop.ts';
import { GatewayError } from '../checks/gatewayError.ts';
import type { State } from './sharedState.ts';
import { createTokenBuckets, type TokenBuckets } from './tokenBuckets.ts';

/** Options of `memoryState()`. */
export interface MemoryStateOptions {
  /**
   * The approximate memory limit for stored values, in bytes. Over the limit, the oldest responses of a caller with more
   * than half as many bytes as the largest caller are removed as if they had expired. Calls that are running are never
   * removed: if they fill the memory, further calls with a key are rejected with 503, and a response that does not fit
   * beside them is not stored. Default: 67108864 (64 MiB).
   */
  readonly maxSize?: number;
}

interface StoredValue {
  readonly value: string;
  /** A time of `performance.now()`. */
  readonly expiresAt: number;
  readonly bytes: number;
  /** `undefined` for a value that `add` stored, which is not removed before it expires. */
  readonly share: Share | undefined;
}

/** The values of one caller that may be removed. */
interface Share {
  readonly caller: string;
  /** From the oldest to the newest. */
  readonly keys: Set<string>;
  bytes: number;
}

/** The overhead of an entry besides its key and value, and that of a share, in bytes (Node 22). */
const entryBytes = 200;

/** Creates a state for this process alone, lost when it ends. @throws {GatewayError} for a bad `maxSize` */
export function memoryState({ maxSize = 67_108_864 }: MemoryStateOptions = {}): State {
  if (!(maxSize > 0)) {
    throw new GatewayError(`memoryState: maxSize is ${maxSize}; it must be a positive number of bytes.`);
  }
  // In insertion order, which is also the order of expiry if all entries have the same lifetime.
  const entries = new Map<string, StoredValue>();
  const shares = new Map<string, Share>();
  /** The shares by the binary logarithm of their bytes: finds one of the largest, up to a factor of 2, at once. */
  const ranks: Set<Share>[] = [];
  const buckets = new Map<string, TokenBuckets>();
  let runningBytes = 0;
  let sharedBytes = 0;

  /** @param by the change of the share's bytes */
  function resize(share: Share, by: number): void {
    ranks[rankOf(share)]?.delete(share);
    share.bytes += by;
    sharedBytes += by;
    if (share.keys.size > 0) (ranks[rankOf(share)] ??= new Set()).add(share);
    else if (shares.delete(share.caller)) sharedBytes -= share.bytes;
  }

  function shareOf(caller: string): Share {
    let share = shares.get(caller);
    if (share === undefined) {
      share = { caller, keys: new Set(), bytes: entryBytes + 2 * caller.length };
      shares.set(caller, share);
      sharedBytes += share.bytes;
    }
    return share;
  }

  function remove(key: string, entry: StoredValue): void {
    entries.delete(key);
    if (entry.share === undefined) runningBytes -= entry.bytes;
    else {
      entry.share.keys.delete(key);
      resize(entry.share, -entry.bytes);
    }
  }

  function makeRoom(size: number): void {
    const now = performance.now();
    for (const [oldest, entry] of entries) {
      if (entry.expiresAt > now) break;
      remove(oldest, entry);
    }
    if (runningBytes + size > maxSize) {
      throw new Error(
        `memoryState: a value of ${size} bytes does not fit into maxSize (${maxSize}): running calls take ${runningBytes} bytes.`,
      );
    }
    while (runningBytes + sharedBytes + size > maxSize) {
      const [share] = ranks.findLast((each) => each !== undefined && each.size > 0) ?? [];
      const [oldest = ''] = share?.keys ?? [];
      const entry = entries.get(oldest);
      if (entry === undefined) return;
      remove(oldest, entry);
    }
  }

  function store(key: string, value: string, ttlMs: number, caller?: string): void {
    const size = entryBytes + 2 * (key.length + value.length);
    // Before the value is replaced: if there is no room, the key must stay reserved.
    makeRoom(size + (caller === undefined || shares.has(caller) ? 0 : entryBytes + 2 * caller.length));
    const existing = entries.get(key);
    if (existing !== undefined) remove(key, existing);
    const share = caller === undefined ? undefined : shareOf(caller);
    entries.set(key, { value, expiresAt: performance.now() + ttlMs, bytes: size, share });
    if (share === undefined) runningBytes += size;
    else {
      share.keys.add(key);
      resize(share, size);
    }
  }

  return {
    add(key, value, ttlMs) {
      const existing = entries.get(key);
      if (existing !== undefined && existing.expiresAt > performance.now()) return existing.value;
      store(key, value, ttlMs);
      return undefined;
    },
    set(key, value, ttlMs, caller = '') {
      store(key, value, ttlMs, caller);
    },
    delete(key, value) {
      const existing = entries.get(key);
      if (existing?.value === value) remove(key, existing);
    },
    take(key, count, bucket) {
      const kind = `${bucket.size} ${bucket.windowMs}`;
      const take = buckets.get(kind) ?? createTokenBuckets(bucket);
      buckets.set(kind, take);
      return take(key, count);
    },
  };
}

const rankOf = ({ bytes }: Share): number => Math.floor(Math.log2(bytes));
