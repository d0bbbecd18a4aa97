import { hash, randomBytes } from 'node:crypto';

/** A new API key. Show it once and store only its hash. */
export interface IssuedKey {
  /** `psk_` and 32 random bytes as base64url: 47 characters. Secret scanners recognize the prefix. */
  readonly key: string;
  readonly hash: string;
}

/** Generates a random API key. */
export function issueKey(): IssuedKey {
  const key = `psk_${randomBytes(32).toString('base64url')}`;
  return { key, hash: hashKey(key) };
}

/** Returns the SHA-256 of a key as base64url. No salt or key stretching: a key has 256 random bits and cannot be guessed. */
export const hashKey = (key: string): string => hash('sha256', key, 'base64url');
