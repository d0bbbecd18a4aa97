import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { KeyRecord, KeyStore } from '../store/store.ts';
import { StoreError } from '../store/storeError.ts';
import { hashKey, issueKey } from './apiKey.ts';
import { createKeyVerifier } from './keyVerifier.ts';

let keys: KeyStore;

/** Stores keys in memory, and reads synchronously, as the embedded store does. */
function memoryKeys(): KeyStore {
  const records = new Map<string, KeyRecord>();
  return {
    find: (hash) => records.get(hash),
    add: async (record) => void records.set(record.hash, record),
    addFirst: async () => false,
    list: () => [...records.values()],
    async revoke(name, revokedAt) {
      const record = [...records.values()].find((each) => each.name === name);
      if (record !== undefined) records.set(record.hash, { ...record, revokedAt });
      return record;
    },
    touch: async () => {},
  };
}

beforeEach(() => {
  keys = memoryKeys();
});
afterEach(() => {
  vi.useRealTimers();
});

async function addKey(name: string) {
  const issued = issueKey();
  await keys.add({ name, hash: issued.hash, createdAt: 1 });
  return issued;
}

test('verify accepts the key of the environment and stored keys, and no part of a key, longer text, hash and other case', async () => {
  const verify = createKeyVerifier({ keys, apiKey: 'environment-key-0001' });
  const { key, hash } = await addKey('deploy');
  expect(verify('environment-key-0001')).toEqual({ name: 'API_KEY', hash: hashKey('environment-key-0001') });
  expect(verify(key)).toEqual({ name: 'deploy', hash });
  const parts = [key.slice(0, -1), `${key}x`, key.slice(4), hash, key.toUpperCase()];
  for (const token of [
    '',
    'psk_',
    issueKey().key,
    'a'.repeat(16_384),
    '\u0000',
    'ключ',
    'environment-key-0002',
    ...parts,
  ]) {
    expect(verify(token)).toBeUndefined();
  }
});

describe('a key that expires', () => {
  const now = Date.parse('2026-11-21T10:00:00Z');
  async function addExpiring(expiresAt: number) {
    vi.useFakeTimers({ toFake: ['performance', 'Date'], now });
    const issued = issueKey();
    await keys.add({ name: 'guest', hash: issued.hash, createdAt: 1, expiresAt });
    return issued;
  }

  test('verify rejects a key from its expiry on, even while it is cached', async () => {
    const { key, hash } = await addExpiring(now + 1500);
    const verify = createKeyVerifier({ keys });
    expect(verify(key)).toEqual({ name: 'guest', hash });
    vi.advanceTimersByTime(1100);
    expect(verify(key)).toEqual({ name: 'guest', hash });
    vi.advanceTimersByTime(399);
    expect(verify(key)).toEqual({ name: 'guest', hash });
    vi.advanceTimersByTime(1);
    expect(verify(key)).toBeUndefined();
    expect(verify(key)).toBeUndefined();
    // Without a cached lookup.
    expect(createKeyVerifier({ keys })(key)).toBeUndefined();
  });

  test('verify rejects a key that expires during its lookup', async () => {
    const { key } = await addExpiring(now + 1000);
    let endLookup = () => {};
    const find: KeyStore['find'] = (hash) =>
      new Promise((resolve) => (endLookup = () => resolve(keys.find(hash))));
    const verdict = createKeyVerifier({ keys: { ...keys, find } })(key);
    vi.advanceTimersByTime(1000);
    endLookup();
    expect(await verdict).toBeUndefined();
  });
});

test('verify looks up a valid key once a second, so that it rejects a revoked one within a second, and an invalid one every time because it may be added', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const lookups: string[] = [];
  const counting: KeyStore = {
    ...keys,
    find(hash) {
      lookups.push(hash);
      return keys.find(hash);
    },
  };
  const verify = createKeyVerifier({ keys: counting });
  const { key, hash } = await addKey('deploy');
  for (let count = 0; count < 10; count++) expect(verify(key)).toEqual({ name: 'deploy', hash });
  expect(lookups).toEqual([hash]);
  vi.advanceTimersByTime(1000);
  expect(verify(key)).toEqual({ name: 'deploy', hash });
  expect(lookups).toEqual([hash, hash]);
  await keys.revoke('deploy', 2);
  vi.advanceTimersByTime(1000);
  expect([verify(key), verify(key)]).toEqual([undefined, undefined]);

  const later = issueKey();
  expect(verify(later.key)).toBeUndefined();
  await keys.add({ name: 'later', hash: later.hash, createdAt: 1 });
  expect(verify(later.key)).toBeDefined();
});

test('verify retries a failed keys.touch a minute later, not on each lookup', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  const { key } = await addKey('deploy');
  const touch = vi.fn<KeyStore['touch']>(() => Promise.reject(new StoreError('full', 'The disk is full.')));
  const verify = createKeyVerifier({ keys: { ...keys, touch } });
  for (let second = 0; second < 60; second++) {
    expect(verify(key)).toBeDefined();
    expect(touch).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1000);
  }
  expect(verify(key)).toBeDefined();
  expect(touch).toHaveBeenCalledTimes(2);
});

describe('a slow store', () => {
  /** A store with lookups that the test ends. Each returns what was stored when it began. */
  function lateStore() {
    const lookups: (() => void)[] = [];
    const find: KeyStore['find'] = (hash) => {
      const record = keys.find(hash);
      return new Promise((resolve) => lookups.push(() => resolve(record)));
    };
    return { verify: createKeyVerifier({ keys: { ...keys, find } }), lookups };
  }

  test('concurrent calls with one key share a lookup', async () => {
    const { verify, lookups } = lateStore();
    const [{ key, hash }, other] = [await addKey('deploy'), await addKey('other')];
    const calls = [key, key, other.key, key].map(async (each) => verify(each));
    expect(lookups).toHaveLength(2);
    for (const end of lookups) end();
    const deploy = { name: 'deploy', hash };
    expect(await Promise.all(calls)).toEqual([deploy, deploy, { name: 'other', hash: other.hash }, deploy]);
  });

  test('verify caches a key for a second after a lookup of 1.5 s', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { verify, lookups } = lateStore();
    const { key } = await addKey('deploy');
    const first = verify(key);
    vi.advanceTimersByTime(1500);
    lookups[0]?.();
    await first;
    expect(await verify(key)).toBeDefined();
    vi.advanceTimersByTime(999);
    expect(await verify(key)).toBeDefined();
    expect(lookups).toHaveLength(1);
  });

  test('verify rejects a revoked key in all calls from 3 s after the start of a lookup that missed the revocation', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { verify, lookups } = lateStore();
    const { key } = await addKey('deploy');
    const early = verify(key);
    await keys.revoke('deploy', 2);
    vi.advanceTimersByTime(2999);
    const joined = verify(key);
    vi.advanceTimersByTime(1);
    const late = verify(key);
    expect(lookups).toHaveLength(2);
    lookups[1]?.();
    expect(await late).toBeUndefined();
    lookups[0]?.();
    expect(await early).toBeDefined();
    expect(await joined).toBeDefined();
    const later = verify(key);
    lookups[2]?.();
    expect(await later).toBeUndefined();
  });

  test('calls still share a lookup after an older one of more than 3 s has ended', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { verify, lookups } = lateStore();
    const { key, hash } = await addKey('deploy');
    const overdue = verify(key);
    vi.advanceTimersByTime(3000);
    const second = verify(key);
    expect(lookups).toHaveLength(2);
    lookups[0]?.();
    expect(await overdue).toEqual({ name: 'deploy', hash });
    // The result of the first lookup was too old to be cached.
    const third = verify(key);
    expect(lookups).toHaveLength(2);
    lookups[1]?.();
    expect(await Promise.all([second, third])).toEqual([
      { name: 'deploy', hash },
      { name: 'deploy', hash },
    ]);
  });
});

test('verify throws while the store is unavailable, except for the key of the environment, and then repeats the lookup', async () => {
  const { key } = await addKey('deploy');
  const away = new StoreError('unavailable', 'The database is away.');
  const find = vi.fn<KeyStore['find']>((hash) => keys.find(hash)).mockRejectedValueOnce(away);
  const verify = createKeyVerifier({ keys: { ...keys, find }, apiKey: 'environment-key-0001' });
  await expect(verify(key)).rejects.toBe(away);
  expect(verify('environment-key-0001')).toBeDefined();
  expect(await verify(key)).toBeDefined();
});
