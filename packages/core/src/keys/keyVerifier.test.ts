import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openEmbeddedStore } from '../store/embedded/index.ts';
import type { KeyStore, Store } from '../store/store.ts';
import { StoreError } from '../store/storeError.ts';
import { hashKey, issueKey } from './apiKey.ts';
import { createKeyVerifier } from './keyVerifier.ts';

let dataDir: string;
let store: Store;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'petstore-'));
  store = await openEmbeddedStore({ dataDir });
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
  await rm(dataDir, { recursive: true });
});

async function addKey(name: string) {
  const issued = issueKey();
  await store.keys.add({ name, hash: issued.hash, createdAt: 1 });
  return issued;
}

test('a key that was issued and stored is known by its name and its hash, at once', async () => {
  const verify = createKeyVerifier({ keys: store.keys });
  const { key, hash } = await addKey('deploy');
  expect(verify(key)).toEqual({ name: 'deploy', hash });
});

test.for(['', 'psk_', issueKey().key, 'a'.repeat(16_384), '\u0000', 'ключ'])(
  '%s is no key',
  async (token) => {
    const verify = createKeyVerifier({ keys: store.keys, apiKey: 'environment-key-0001' });
    await addKey('deploy');
    expect(verify(token)).toBeUndefined();
  },
);

test('neither a part of a key, nor more than it, nor its hash is one', async () => {
  const verify = createKeyVerifier({ keys: store.keys });
  const { key, hash } = await addKey('deploy');
  for (const token of [key.slice(0, -1), `${key}x`, key.slice(4), hash, key.toUpperCase()]) {
    expect(verify(token)).toBeUndefined();
  }
});

test('a revoked key is refused within a second, and the others are not', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const verify = createKeyVerifier({ keys: store.keys });
  const revoked = await addKey('old');
  const good = await addKey('new');
  expect(verify(revoked.key)).toBeDefined();
  await store.keys.revoke('old', 2);
  vi.advanceTimersByTime(1000);
  expect(verify(revoked.key)).toBeUndefined();
  expect(verify(revoked.key)).toBeUndefined();
  expect(verify(good.key)).toBeDefined();
});

describe('a key that expires', () => {
  const now = Date.parse('2026-11-21T10:00:00Z');
  async function addExpiring(expiresAt: number) {
    vi.useFakeTimers({ toFake: ['performance', 'Date'], now });
    const issued = issueKey();
    await store.keys.add({ name: 'guest', hash: issued.hash, createdAt: 1, expiresAt });
    return issued;
  }

  test('is good until then, and refused from then on, also while its last look-up is remembered', async () => {
    const { key, hash } = await addExpiring(now + 1500);
    const verify = createKeyVerifier({ keys: store.keys });
    expect(verify(key)).toEqual({ name: 'guest', hash });
    vi.advanceTimersByTime(1100);
    expect(verify(key)).toEqual({ name: 'guest', hash });
    vi.advanceTimersByTime(399);
    expect(verify(key)).toEqual({ name: 'guest', hash });
    vi.advanceTimersByTime(1);
    expect(verify(key)).toBeUndefined();
    expect(verify(key)).toBeUndefined();
  });

  test('is refused where it has expired before it was ever used', async () => {
    const { key } = await addExpiring(now);
    expect(createKeyVerifier({ keys: store.keys })(key)).toBeUndefined();
  });

  test('is refused by an answer that comes when it has expired meanwhile', async () => {
    const { key } = await addExpiring(now + 1000);
    let response = () => {};
    const find: KeyStore['find'] = (hash) =>
      new Promise((resolve) => (response = () => resolve(store.keys.find(hash))));
    const verdict = createKeyVerifier({ keys: { ...store.keys, find } })(key);
    vi.advanceTimersByTime(1000);
    response();
    expect(await verdict).toBeUndefined();
  });
});

test('a good key is looked up once a second, a bad one every time: it may have been added', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const asked: string[] = [];
  const counting: KeyStore = {
    ...store.keys,
    find(hash) {
      asked.push(hash);
      return store.keys.find(hash);
    },
  };
  const verify = createKeyVerifier({ keys: counting });
  const { key, hash } = await addKey('deploy');
  for (let count = 0; count < 10; count++) expect(verify(key)).toEqual({ name: 'deploy', hash });
  expect(asked).toEqual([hash]);
  vi.advanceTimersByTime(1000);
  expect(verify(key)).toEqual({ name: 'deploy', hash });
  expect(asked).toEqual([hash, hash]);

  const later = issueKey();
  expect(verify(later.key)).toBeUndefined();
  await store.keys.add({ name: 'later', hash: later.hash, createdAt: 1 });
  expect(verify(later.key)).toBeDefined();
});

test('where the use of a key cannot be noted, it is tried again a minute later, not at each look-up', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  const { key } = await addKey('deploy');
  const touch = vi.fn<KeyStore['touch']>(() => Promise.reject(new StoreError('full', 'The disk is full.')));
  const verify = createKeyVerifier({ keys: { ...store.keys, touch } });
  for (let second = 0; second < 60; second++) {
    expect(verify(key)).toBeDefined();
    expect(touch).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1000);
  }
  expect(verify(key)).toBeDefined();
  expect(touch).toHaveBeenCalledTimes(2);
});

test("the environment's key is accepted besides the stored ones", async () => {
  const verify = createKeyVerifier({ keys: store.keys, apiKey: 'environment-key-0001' });
  const { key } = await addKey('deploy');
  expect(verify('environment-key-0001')).toEqual({ name: 'API_KEY', hash: hashKey('environment-key-0001') });
  expect(verify(key)).toBeDefined();
  expect(verify('environment-key-0002')).toBeUndefined();
});

test('a store that answers later is waited for', async () => {
  const { key, hash } = await addKey('deploy');
  const later: KeyStore = { ...store.keys, find: async (wanted) => store.keys.find(wanted) };
  const verify = createKeyVerifier({ keys: later });
  expect(await verify(key)).toEqual({ name: 'deploy', hash });
  expect(await verify('psk_other')).toBeUndefined();
});

describe('of a store that answers late', () => {
  /** Look-ups, each answered when the test says so, with what was stored when it was asked. */
  function lateStore() {
    const responses: (() => void)[] = [];
    const keys: KeyStore = {
      ...store.keys,
      find: (hash) => {
        const record = store.keys.find(hash);
        return new Promise((resolve) => responses.push(() => resolve(record)));
      },
    };
    return { verify: createKeyVerifier({ keys }), answers: responses };
  }

  test('many calls with one key at once are one look-up, and one with another key is another', async () => {
    const { verify, answers: responses } = lateStore();
    const [{ key, hash }, other] = [await addKey('deploy'), await addKey('other')];
    const calls = [key, key, other.key, key].map(async (each) => verify(each));
    expect(responses).toHaveLength(2);
    for (const received of responses) received();
    const deploy = { name: 'deploy', hash };
    expect(await Promise.all(calls)).toEqual([deploy, deploy, { name: 'other', hash: other.hash }, deploy]);
  });

  test('an answer that took longer than a second is still good for the calls after it', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { verify, answers: responses } = lateStore();
    const { key } = await addKey('deploy');
    const first = verify(key);
    vi.advanceTimersByTime(1500);
    responses[0]?.();
    await first;
    expect(await verify(key)).toBeDefined();
    vi.advanceTimersByTime(999);
    expect(await verify(key)).toBeDefined();
    expect(responses).toHaveLength(1);
  });

  test('a revoked key is refused to all that come 3 s after the last look-up that missed it', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { verify, answers: responses } = lateStore();
    const { key } = await addKey('deploy');
    const early = verify(key);
    await store.keys.revoke('deploy', 2);
    vi.advanceTimersByTime(2999);
    const joined = verify(key);
    vi.advanceTimersByTime(1);
    const late = verify(key);
    expect(responses).toHaveLength(2);
    responses[1]?.();
    expect(await late).toBeUndefined();
    responses[0]?.();
    expect(await early).toBeDefined();
    expect(await joined).toBeDefined();
    const later = verify(key);
    responses[2]?.();
    expect(await later).toBeUndefined();
  });

  test('the end of a look-up that took more than 3 s leaves the one that replaced it to be shared', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { verify, answers: responses } = lateStore();
    const { key, hash } = await addKey('deploy');
    const overdue = verify(key);
    vi.advanceTimersByTime(3000);
    const second = verify(key);
    expect(responses).toHaveLength(2);
    responses[0]?.();
    expect(await overdue).toEqual({ name: 'deploy', hash });
    // What the first one found was too old to be remembered.
    const third = verify(key);
    expect(responses).toHaveLength(2);
    responses[1]?.();
    expect(await Promise.all([second, third])).toEqual([
      { name: 'deploy', hash },
      { name: 'deploy', hash },
    ]);
  });

  test('a look-up that failed is asked for again', async () => {
    const { key } = await addKey('deploy');
    let isAway = true;
    const find = async (hash: string) => {
      if (isAway) throw new StoreError('unavailable', 'The database is away.');
      return store.keys.find(hash);
    };
    const verify = createKeyVerifier({ keys: { ...store.keys, find } });
    await expect(verify(key)).rejects.toThrow('away');
    isAway = false;
    expect(await verify(key)).toBeDefined();
  });
});

test('while the store is away a key is an error, not a refusal, but for the one of the environment', async () => {
  const away = new StoreError('unavailable', 'The database is away.');
  const keys: KeyStore = { ...store.keys, find: () => Promise.reject(away) };
  const verify = createKeyVerifier({ keys, apiKey: 'environment-key-0001' });
  await expect(verify(issueKey().key)).rejects.toBe(away);
  expect(verify('environment-key-0001')).toBeDefined();
});
