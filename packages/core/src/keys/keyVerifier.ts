import type { MaybePromise, KeyRecord, KeyStore } from '../store/store.ts';
import { hashKey } from './apiKey.ts';

/** Whose call it is. */
export interface KeyIdentity {
  /** For people: logs, lists. */
  readonly name: string;
  /** SHA-256 of the key, base64url: what stands for this key, and no other, for as long as it exists. */
  readonly hash: string;
}

export interface KeyVerifierOptions {
  readonly keys: KeyStore;
  /** One more key, from the environment. It is good even while the store is away. */
  readonly apiKey?: string | undefined;
}

/**
 * @returns `undefined` for a token that is no key, or one that is revoked or expired; a promise only where the store gives
 * one
 * @throws {StoreError} while the store cannot tell
 */
export interface KeyVerifier {
  (token: string): MaybePromise<KeyIdentity | undefined>;
  /** How many keys are remembered as good, for metrics. */
  readonly remembered: () => number;
}

/** For how long a key that was good is not looked up again. */
const CACHE_MS = 1000;

/**
 * For how long after it was asked for an answer counts, be it late: for calls that come meanwhile, and those after. A
 * revocation that it missed is seen by then in every process; 5 s are promised, of which what goes on with a key needs a part.
 */
const LOOKUP_MS = 3000;

/** How often the use of a key is noted: a write for each call would cost more than the call. */
const TOUCH_INTERVAL_MS = 60_000;

/**
 * Verifies API keys. A new key is good at once. A good one is remembered by its text for a second, so that a call needs
 * neither its hash (a fifth of a GET) nor the store; invalid tokens are not remembered, and cannot fill the memory.
 */
export function createKeyVerifier({ keys, apiKey }: KeyVerifierOptions): KeyVerifier {
  const environmentKey = apiKey === undefined ? undefined : { name: 'API_KEY', hash: hashKey(apiKey) };
  const touchedAt = new Map<string, number>();
  const validKeys = new Map<string, { readonly identity: KeyIdentity; readonly until: number }>();
  /** Look-ups under way: one for however many calls come with a key at once. */
  const lookups = new Map<
    string,
    { readonly identity: Promise<KeyIdentity | undefined>; readonly until: number }
  >();

  function touch(hash: string, { lastUsedAt = 0 }: KeyRecord): void {
    const now = Date.now();
    if (now < lastUsedAt + TOUCH_INTERVAL_MS || now < (touchedAt.get(hash) ?? 0) + TOUCH_INTERVAL_MS) return;
    touchedAt.set(hash, now);
    // No call waits for it, and none fails with it: the next minute's use is noted in its place.
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
    // The text of a key that is not used any more does not stay in memory.
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
      // Not one that was asked for since.
      if (lookups.get(hash)?.until === until) lookups.delete(hash);
    }
  }

  function verify(token: string): MaybePromise<KeyIdentity | undefined> {
    const now = performance.now();
    const cached = validKeys.get(token);
    if (cached !== undefined && now < cached.until) return cached.identity;
    const hash = hashKey(token);
    // Hashes may be compared byte by byte: how long that takes tells about the hash of a guess, not about a key.
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
  return Object.assign(verify, { remembered: () => validKeys.size });
}
