import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashKey, issueKey } from './apiKey.ts';

test('issueKey returns a key of psk_ and 32 random bytes as base64url', () => {
  const keys = Array.from({ length: 100 }, () => issueKey().key);
  expect(new Set(keys).size).toBe(100);
  for (const key of keys) {
    expect(key).toMatch(/^psk_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(key.slice(4), 'base64url')).toHaveLength(32);
  }
});

test('hashKey returns the SHA-256 of the whole key as base64url', () => {
  const { key, hash } = issueKey();
  expect(hash).toBe(createHash('sha256').update(key).digest('base64url'));
  expect(hashKey(key)).toBe(hash);
  expect(hashKey('')).toBe('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU');
});
