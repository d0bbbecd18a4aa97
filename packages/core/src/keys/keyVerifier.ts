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
const GOOD_MS = 1000;

/**
 * For how long after it was asked for an answer counts, be it late: for calls that come meanwhile, and those after. A
 * revocation that it missed is seen by then in every process; 5 s are promised, of which what goes on with a key needs a part.
 */
const ANSWER_MS = 3000;

/** How often the use of a key is noted: a write for each call would cost more than the call. */
const USE_MS = 60_000;

/**
 * Verifies API keys. A new key is good at once. A good one is remembered by its text for a second, so that a call needs
 * neither its hash (a fifth of a GET) nor the store; invalid tokens are not remembered, and cannot fill the memory.
 */
export function createKeyVerifier({ keys, apiKey }: KeyVerifierOptions): KeyVerifier {
  const extra = apiKey === undefined ? undefined : { name: 'API_KEY', hash: hashKey(apiKey) };
  const noted = new Map<string, number>();
  const good = new Map<string, { readonly identity: KeyIdentity; readonly until: number }>();
  /** Look-ups under way: one for however many calls come with a key at once. */
  const asked = new Map<
    string,
    { readonly identity: Promise<KeyIdentity | undefined>; readonly until: number }
  >();

  function noteUse(hash: string, { lastUsedAt = 0 }: KeyRecord): void {
    const now = Date.now();
    if (now < lastUsedAt + USE_MS || now < (noted.get(hash) ?? 0) + USE_MS) return;
    noted.set(hash, now);
    // No call waits for it, and none fails with it: the next minute's use is noted in its place.
    keys.touch(hash, now).catch(() => {});
  }

  function remember(
    token: string,
    hash: string,
    record: KeyRecord | undefined,
    until: number,
  ): KeyIdentity | undefined {
    const leftMs = (record?.expiresAt ?? Infinity) - Date.now();
    if (record === undefined || record.revokedAt !== undefined || leftMs <= 0) {
      good.delete(token);
      return undefined;
    }
    const identity = { name: record.name, hash };
    const entry = { identity, until: Math.min(until, performance.now() + leftMs) };
    good.set(token, entry);
    // The text of a key that is not used any more does not stay in memory.
    setTimeout(() => {
      if (good.get(token) === entry) good.delete(token);
    }, GOOD_MS).unref();
    noteUse(hash, record);
    return identity;
  }

  async function rememberLater(
    token: string,
    hash: string,
    finding: Promise<KeyRecord | undefined>,
    until: number,
  ): Promise<KeyIdentity | undefined> {
    try {
      const record = await finding;
      return remember(token, hash, record, Math.min(performance.now() + GOOD_MS, until));
    } finally {
      // Not one that was asked for since.
      if (asked.get(hash)?.until === until) asked.delete(hash);
    }
  }

  function verify(token: string): MaybePromise<KeyIdentity | undefined> {
    const now = performance.now();
    const known = good.get(token);
    if (known !== undefined && now < known.until) return known.identity;
    const hash = hashKey(token);
    // Hashes may be compared byte by byte: how long that takes tells about the hash of a guess, not about a key.
    if (extra !== undefined && hash === extra.hash) {
      good.set(token, { identity: extra, until: Infinity });
      return extra;
    }
    const waiting = asked.get(hash);
    if (waiting !== undefined && now < waiting.until) return waiting.identity;
    const found = keys.find(hash);
    if (!(found instanceof Promise)) return remember(token, hash, found, now + GOOD_MS);
    const until = now + ANSWER_MS;
    const identity = rememberLater(token, hash, found, until);
    asked.set(hash, { identity, until });
    return identity;
  }
  return Object.assign(verify, { remembered: () => good.size });
}
