import type { MaybePromise, KeyRecord, KeyStore } from '../store/store.ts';
import { hashKey } from './apiKey.ts';

/** Identity of an authenticated caller. */
export interface KeyIdentity {
  /** Name of the key, for logs and lists. */
  readonly name: string;
  /** SHA-256 of the key as base64url. Identifies the key permanently. */
  readonly hash: string;
}

export interface KeyVerifierOptions {
  readonly keys: KeyStore;
  /** An additional key, from the environment. It is valid even while the store is unavailable. */
  readonly apiKey?: string | undefined;
}

/**
 * Verifies an API key. `undefined` if it is no key, revoked or expired; a promise only if the store returns one.
 * @throws {StoreError} if the store is unavailable
 */
export interface KeyVerifier {
  (token: string): MaybePromise<KeyIdentity | undefined>;
  /** Number of cached valid keys, for metrics. */
  readonly cachedKeys: () => number;
}

/** How long a valid key is cached, in milliseconds. */
const CACHE_MS = 1000;

/**
 * How long a lookup is shared and cached after its start, in milliseconds. After that, a revocation that it missed is
 * effective in every process. The documentation promises 5 s; the rest is left for calls already authenticated.
 */
const LOOKUP_MS = 3000;

/** How often `lastUsedAt` of a key is written, in milliseconds. A write per call would cost more than the call. */
const TOUCH_INTERVAL_MS = 60_000;

/**
 * Creates a verifier of API keys. New keys are valid immediately. A valid key is cached for 1 s: most calls need neither its
 * hash (a fifth of a GET) nor the store. Invalid tokens are not cached, so they cannot fill the memory.
 */
export function createKeyVerifier({ keys, apiKey }: KeyVerifierOptions): KeyVerifier {
  const environmentKey = apiKey === undefined ? undefined : { name: 'API_KEY', hash: hashKey(apiKey) };
  const touchedAt = new Map<string, number>();
  const validKeys = new Map<string, { readonly identity: KeyIdentity; readonly until: number }>();
  /** Pending lookups by hash: concurrent calls with one key share a lookup. */
  const lookups = new Map<
    string,
    { readonly identity: Promise<KeyIdentity | undefined>; readonly until: number }
  >();

  function touch(hash: string, { lastUsedAt = 0 }: KeyRecord): void {
    const now = Date.now();
    if (now < lastUsedAt + TOUCH_INTERVAL_MS || now < (touchedAt.get(hash) ?? 0) + TOUCH_INTERVAL_MS) return;
    touchedAt.set(hash, now);
    // No call waits for this write or fails with it: the next one follows a minute later.
    keys.touch(hash, now).catch(() => {});
  }

  function cacheKey(
    token: string,
    hash: string,
    record: KeyRecord | undefined,
    until: number,
  ): KeyIdentity | undefined {
    const leftMs = (record?.expiresAt ?? Infinity) - Date.now();
    if (record === undefined || record.revokedAt !== undefined || leftMs <= 0) {
      validKeys.delete(token);
      return undefined;
    }
    const identity = { name: record.name, hash };
    const entry = { identity, until: Math.min(until, performance.now() + leftMs) };
    validKeys.set(token, entry);
    // Keys that are no longer used do not stay in memory.
    setTimeout(() => {
      if (validKeys.get(token) === entry) validKeys.delete(token);
    }, CACHE_MS).unref();
    touch(hash, record);
    return identity;
  }

  async function cacheAfterLookup(
    token: string,
    hash: string,
    lookup: Promise<KeyRecord | undefined>,
    until: number,
  ): Promise<KeyIdentity | undefined> {
    try {
      const record = await lookup;
      return cacheKey(token, hash, record, Math.min(performance.now() + CACHE_MS, until));
    } finally {
      // Keep a lookup that replaced this one.
      if (lookups.get(hash)?.until === until) lookups.delete(hash);
    }
  }

  function verify(token: string): MaybePromise<KeyIdentity | undefined> {
    const now = performance.now();
    const cached = validKeys.get(token);
    if (cached !== undefined && now < cached.until) return cached.identity;
    const hash = hashKey(token);
    // A comparison in constant time is not needed: its duration reveals the hash of a guess, not the key.
    if (environmentKey !== undefined && hash === environmentKey.hash) {
      validKeys.set(token, { identity: environmentKey, until: Infinity });
      return environmentKey;
    }
    const pending = lookups.get(hash);
    if (pending !== undefined && now < pending.until) return pending.identity;
    const lookup = keys.find(hash);
    if (!(lookup instanceof Promise)) return cacheKey(token, hash, lookup, now + CACHE_MS);
    const until = now + LOOKUP_MS;
    const identity = cacheAfterLookup(token, hash, lookup, until);
    lookups.set(hash, { identity, until });
    return identity;
  }
  return Object.assign(verify, { cachedKeys: () => validKeys.size });
}
