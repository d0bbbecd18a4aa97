import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { mongodbUri } from '@petstore/testing/mongodb';
import { measured } from '@petstore/testing/slowness';
import type { MongodbStoreOptions } from './index.ts';
import { proxiedDatabase } from './testing/proxiedDatabase.ts';
import { animals } from '../../procedures/animals.ts';

const pet = { name: 'Rex', categoryId: 1 };

/**
 * Opens a store whose operations time out after a second, and which can send any call at once: it has ids, and connections.
 * Returns the names that a store reads in its own time, too.
 */
async function openImpatient(options: Partial<MongodbStoreOptions> = {}) {
  const { proxy, open } = await proxiedDatabase();
  const patient = (await open()).collection(animals);
  const store = await open({ operationTimeoutMs: 1000, ...options });
  const pets = store.collection(animals);
  const { id } = await vi.waitFor(async () => pets.create(pet));
  await vi.waitFor(() => Promise.all(Array.from({ length: 20 }, async () => pets.get(id))));
  const names = async () => (await patient.list({ limit: 10 })).records.map(({ name }) => name);
  return { id, names, pets, proxy, store };
}

/** Returns the error of a call and its duration in milliseconds. */
async function failureOf(call: () => unknown): Promise<{ ms: number; error: unknown }> {
  const start = performance.now();
  try {
    await call();
  } catch (error) {
    return { ms: performance.now() - start, error };
  }
  throw new Error('It did not fail.');
}

describe.skipIf(mongodbUri === undefined)('a database that does not respond', () => {
  test.for(['cutResponses', 'cutMessages'] as const)(
    'a create with a lost response (%s) fails with outcome-unknown and may be stored',
    async (kind) => {
      const { proxy, open } = await proxiedDatabase();
      const pets = (await open()).collection(animals);
      await pets.create(pet);
      proxy.set({ kind, percent: 100, only: 'insert' });
      const { error } = await failureOf(() => pets.create(pet));
      expect(error).toMatchObject({ code: 'outcome-unknown' });
      proxy.set({ kind: 'none' });
      expect((await pets.list({ limit: 10 })).records).toHaveLength(2);
    },
  );

  test('at its timeout a sent create fails with outcome-unknown and a sent read with unavailable', async () => {
    const { id, pets, proxy, store } = await openImpatient();
    proxy.set({ kind: 'freeze' });
    const [found, created, got, listed] = await Promise.all([
      failureOf(() => store.keys.find('hash')),
      failureOf(() => pets.create(pet)),
      failureOf(() => pets.get(id)),
      failureOf(() => pets.list({ limit: 1 })),
    ]);
    expect(created.error).toMatchObject({ code: 'outcome-unknown' });
    expect(got.error).toMatchObject({ code: 'unavailable' });
    expect(listed.error).toMatchObject({ code: 'unavailable' });
    for (const { ms } of [created, got, listed]) expect(measured(ms)).toBeLessThan(1500);
    expect(found.error).toMatchObject({ code: 'unavailable' });
    // At half the timeout, because the authenticated call follows.
    expect(measured(found.ms)).toBeLessThan(750);
  });

  test('a create that was not sent fails with unavailable and is not stored', async () => {
    const { names, pets, proxy } = await openImpatient();
    proxy.set({ kind: 'reject' });
    // The first call uses a connection that was cut, and the next ones find no server.
    await failureOf(() => pets.get(1));
    const { ms, error } = await failureOf(() => pets.create({ ...pet, name: 'unsent' }));
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(measured(ms)).toBeLessThan(1500);
    proxy.set({ kind: 'none' });
    expect(await vi.waitFor(names)).not.toContain('unsent');
  });

  test('a create that times out while waiting for a connection fails with unavailable and is not stored', async () => {
    const { names, pets, proxy } = await openImpatient({ maxPoolSize: 1 });
    proxy.set({ kind: 'freeze' });
    const [sent, waiting] = await Promise.all([
      failureOf(() => pets.create({ ...pet, name: 'sent' })),
      failureOf(() => pets.create({ ...pet, name: 'waiting' })),
    ]);
    expect(sent.error).toMatchObject({ code: 'outcome-unknown' });
    expect(waiting.error).toMatchObject({ code: 'unavailable' });
    proxy.set({ kind: 'none' });
    expect(await names()).not.toContain('waiting');
  });

  test('1,024 calls wait for a connection, further ones fail immediately with unavailable, and ready() if the database does not respond', async () => {
    const { pets, proxy, store } = await openImpatient({ maxPoolSize: 1 });
    proxy.set({ kind: 'freeze' });
    const waiting = Array.from({ length: 1025 }, () => failureOf(() => pets.get(1)));
    const { error } = await failureOf(() => pets.get(1));
    // The message of a call that is not immediate is another one.
    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('1024 operations are already waiting for it'),
    });
    await expect(async () => store.ready()).rejects.toMatchObject({ code: 'unavailable' });
    await Promise.all(waiting);
  });

  test('ready resolves at the limit of waiting calls if the database responds', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open({ maxPoolSize: 1 });
    await store.ready();
    proxy.set({ kind: 'delay', ms: 100 });
    const waiting = Array.from({ length: 1025 }, async () => store.collection(animals).get(1));
    // A separate check would wait for all of them, longer than its timeout.
    const ready = Promise.all(Array.from({ length: 50 }, async () => store.ready()));
    await expect(ready).resolves.toHaveLength(50);
    proxy.set({ kind: 'none' });
    await Promise.allSettled(waiting);
  });

  test('close waits for unfinished calls until their timeout', async () => {
    const { pets, proxy, store } = await openImpatient();
    proxy.set({ kind: 'freeze' });
    const creating = failureOf(() => pets.create(pet));
    const start = performance.now();
    await store.close();
    expect(measured(performance.now() - start)).toBeLessThan(2500);
    expect((await creating).error).toMatchObject({ code: 'outcome-unknown' });
  });
});

describe.skipIf(mongodbUri === undefined)('an aborted call', () => {
  const reason = new Error('aborted');

  test('an abort rejects the call immediately, and the sent command completes on its connection', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open();
    await store.collection(animals).create(pet);
    proxy.set({ kind: 'freeze' });
    const controller = new AbortController();
    const creating = failureOf(() =>
      store.collection(animals).create({ ...pet, name: 'sent' }, { signal: controller.signal }),
    );
    await delay(50);
    const before = proxy.connections;
    controller.abort(reason);
    expect((await creating).error).toBe(reason);
    await delay(50);
    expect(proxy.connections).toBe(before);
    proxy.set({ kind: 'none' });
    await vi.waitFor(async () => {
      const { records } = await store.collection(animals).list({ limit: 10 });
      expect(records.map(({ name }) => name)).toContain('sent');
    });
  });

  test('an abort skips a command that was not sent', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open({ maxPoolSize: 1 });
    await store.collection(animals).create(pet);
    proxy.set({ kind: 'freeze' });
    const sent = store.collection(animals).create({ ...pet, name: 'sent' });
    const controller = new AbortController();
    const waiting = failureOf(() =>
      store.collection(animals).create({ ...pet, name: 'waiting' }, { signal: controller.signal }),
    );
    await delay(50);
    controller.abort(reason);
    expect((await waiting).error).toBe(reason);
    proxy.set({ kind: 'none' });
    await sent;
    const { records } = await store.collection(animals).list({ limit: 10 });
    expect(records.map(({ name }) => name)).toEqual(['Rex', 'sent']);
  });
});
