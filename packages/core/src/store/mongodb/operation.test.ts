import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { mongodbUri } from '@petstore/testing/mongodb';
import { proxiedDatabase } from './testing/proxiedDatabase.ts';
import { animals } from '../../procedures/animals.ts';

const pet = { name: 'Rex', categoryId: 1 };

/** How long a call takes that fails, in milliseconds, and how it does. */
async function failure(call: () => unknown): Promise<{ ms: number; error: unknown }> {
  const start = performance.now();
  try {
    await call();
  } catch (error) {
    return { ms: performance.now() - start, error };
  }
  throw new Error('It did not fail.');
}

describe.skipIf(mongodbUri === undefined)('where the database does not answer', () => {
  test.for(['cutReplies', 'cutMessages'] as const)(
    'a create whose answer is lost (%s) is of unknown outcome, and may be stored',
    async (kind) => {
      const { proxy, open } = await proxiedDatabase();
      const store = await open();
      await store.collection(animals).create(pet);
      proxy.set({ kind, percent: 100, only: 'insert' });
      const { error } = await failure(() => store.collection(animals).create(pet));
      expect(error).toMatchObject({ code: 'outcome-unknown' });
      proxy.set({ kind: 'none' });
      expect((await store.collection(animals).list({ limit: 10 })).records).toHaveLength(2);
    },
  );

  test('what was sent fails at its limit: a create with an unknown outcome, a read as unavailable', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open();
    const { id } = await store.collection(animals).create(pet);
    // Connections for all of them: what waits for one is not sent.
    await Promise.all(Array.from({ length: 20 }, async () => store.collection(animals).get(id)));
    proxy.set({ kind: 'freeze' });
    const [created, got, listed] = await Promise.all([
      failure(() => store.collection(animals).create(pet)),
      failure(() => store.collection(animals).get(id)),
      failure(() => store.collection(animals).list({ limit: 1 })),
    ]);
    expect(created.error).toMatchObject({ code: 'outcome-unknown' });
    expect(got.error).toMatchObject({ code: 'unavailable' });
    expect(listed.error).toMatchObject({ code: 'unavailable' });
    for (const { ms } of [created, got, listed]) expect(ms).toBeLessThan(1500);
  });

  test('a create that was never sent is unavailable, and is not stored', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open();
    await store.collection(animals).create(pet);
    proxy.set({ kind: 'refuse' });
    // The connections are cut: the first that uses one of them cannot know, the next find no server.
    await failure(() => store.collection(animals).get(1));
    const { ms, error } = await failure(() => store.collection(animals).create(pet));
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(ms).toBeLessThan(1500);
    proxy.set({ kind: 'none' });
    await vi.waitFor(async () => store.ready(), { timeout: 5000 });
    expect((await store.collection(animals).list({ limit: 10 })).records).toHaveLength(1);
  });

  test('a create that waits for a connection when its time is up is unavailable, and is not stored', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open({ maxPoolSize: 1 });
    await store.collection(animals).create(pet);
    proxy.set({ kind: 'freeze' });
    const [sent, waiting] = await Promise.all([
      failure(() => store.collection(animals).create({ ...pet, name: 'sent' })),
      failure(() => store.collection(animals).create({ ...pet, name: 'waiting' })),
    ]);
    expect(sent.error).toMatchObject({ code: 'outcome-unknown' });
    expect(waiting.error).toMatchObject({ code: 'unavailable' });
    proxy.set({ kind: 'none' });
    await vi.waitFor(async () => store.ready(), { timeout: 5000 });
    const { records } = await store.collection(animals).list({ limit: 10 });
    expect(records.map(({ name }) => name)).not.toContain('waiting');
  });

  test('more calls than may wait fail at once as unavailable', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open({ maxPoolSize: 1, maxWaiting: 2 });
    await store.collection(animals).create(pet);
    proxy.set({ kind: 'freeze' });
    const waiting = Array.from({ length: 3 }, () => failure(() => store.collection(animals).get(1)));
    const { ms, error } = await failure(() => store.collection(animals).get(1));
    expect(ms).toBeLessThan(50);
    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('2 operations wait for it already'),
    });
    await Promise.all(waiting);
  });

  test('the look-up of a key fails at half the limit: the call that needs it waits too', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open();
    await store.ready();
    proxy.set({ kind: 'freeze' });
    const { ms, error } = await failure(() => store.keys.find('hash'));
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(ms).toBeLessThan(750);
  });

  test('a store that more calls wait for than may, and that are answered, is ready', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open({ maxPoolSize: 1, maxWaiting: 20 });
    await store.ready();
    proxy.set({ kind: 'delay', ms: 100 });
    const waiting = Array.from({ length: 21 }, () =>
      failure(async () => expect(await store.collection(animals).get(1)).toBe(1)),
    );
    const start = performance.now();
    await Promise.all(Array.from({ length: 50 }, async () => store.ready()));
    // A check of its own would wait for all of them, longer than its limit.
    expect(performance.now() - start).toBeLessThan(500);
    await Promise.all(waiting);
  });

  test('a store that more calls wait for than may, and that none is answered, is not ready', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open({ maxPoolSize: 1, maxWaiting: 2 });
    await store.ready();
    proxy.set({ kind: 'freeze' });
    const waiting = Array.from({ length: 3 }, () => failure(() => store.collection(animals).get(1)));
    await expect(async () => store.ready()).rejects.toMatchObject({ code: 'unavailable' });
    await Promise.all(waiting);
  });

  test('a close waits for what is under way, and no longer than its limit', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open();
    await store.collection(animals).create(pet);
    proxy.set({ kind: 'freeze' });
    const creating = failure(() => store.collection(animals).create(pet));
    const start = performance.now();
    await store.close();
    expect(performance.now() - start).toBeLessThan(2500);
    expect((await creating).error).toMatchObject({ code: 'outcome-unknown' });
  });
});

describe.skipIf(mongodbUri === undefined)("a caller's abort", () => {
  const reason = new Error('nobody waits');

  test('ends the waiting at once, and the command that was sent goes on over its connection', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open();
    await store.collection(animals).create(pet);
    proxy.set({ kind: 'freeze' });
    const controller = new AbortController();
    const creating = failure(() =>
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

  test('skips what was not sent', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open({ maxPoolSize: 1 });
    await store.collection(animals).create(pet);
    proxy.set({ kind: 'freeze' });
    const sent = store.collection(animals).create({ ...pet, name: 'sent' });
    const controller = new AbortController();
    const waiting = failure(() =>
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
