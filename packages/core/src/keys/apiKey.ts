import { hash, randomBytes } from 'node:crypto';

/** A key that was just made. It is shown once; only its hash is kept. */
export interface IssuedKey {
  /** `psk_` and 32 random bytes as base64url: 47 characters. The prefix is for secret scanners. */
  readonly key: string;
  readonly hash: string;
}

export function issueKey(): IssuedKey {
  const key = `psk_${randomBytes(32).toString('base64url')}`;
  return { key, hash: hashKey(key) };
}

/** SHA-256 as base64url. No salt and no stretching: a key has 256 random bits, there is nothing to guess. */
export const hashKey = (key: string): string => hash('sha256', key, 'base64url');
