import { MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { mongodbUri } from '@petstore/testing/mongodb';
import { type ProxiedDatabase, proxiedDatabase } from './testing/proxiedDatabase.ts';

const pet = { name: 'Rex', categoryId: 1 };

/** The last id that was leased. */
async function leased({ uri, database }: ProxiedDatabase): Promise<number | undefined> {
  const client = new MongoClient(uri);
  onTestFinished(() => client.close());
  const counters = client.db(database).collection<{ _id: string; last: number }>('counters');
  return (await counters.findOne({ _id: 'lastAnimalId' }))?.last;
}

describe.skipIf(mongodbUri === undefined)('ids', () => {
  test('are leased 64 at a time: creates at once share one lease', async () => {
    const database = await proxiedDatabase();
    const store = await database.open();
    const created = await Promise.all(Array.from({ length: 20 }, () => store.create(pet)));
    expect(created.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(await leased(database)).toBe(64);
  });

  test('are leased before they are needed, when fewer than half of them are left', async () => {
    const database = await proxiedDatabase();
    const store = await database.open();
    await Promise.all(Array.from({ length: 34 }, () => store.create(pet)));
    await vi.waitFor(async () => expect(await leased(database)).toBe(128));
    expect(await store.create(pet)).toMatchObject({ id: 35 });
  });

  test('that were not used for 10 s are dropped', async () => {
    const { open } = await proxiedDatabase();
    const [one, other] = [await open(), await open()];
    expect(await one.create(pet)).toMatchObject({ id: 1 });
    expect(await other.create(pet)).toMatchObject({ id: 65 });
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    vi.advanceTimersByTime(10_000);
    expect(await one.create(pet)).toMatchObject({ id: 2 });
    vi.advanceTimersByTime(10_001);
    expect(await one.create(pet)).toMatchObject({ id: 129 });
  });

  test('of several stores that create at once are unique, and ascend within each', async () => {
    const { open } = await proxiedDatabase();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open()));
    const created = await Promise.all(
      stores.map(async (store) => {
        const ids: number[] = [];
        for (let count = 0; count < 100; count++) ids.push((await store.create(pet)).id);
        return ids;
      }),
    );
    expect(new Set(created.flat()).size).toBe(400);
    for (const ids of created) expect(ids).toEqual(ids.toSorted((one, other) => one - other));
  });

  test('are given after a lease whose answer was lost, too', async () => {
    const { proxy, open } = await proxiedDatabase();
    const store = await open();
    await store.ready();
    proxy.set({ kind: 'cutReplies', percent: 100, only: 'counters' });
    await expect(store.create(pet)).rejects.toMatchObject({ code: 'unavailable' });
    proxy.set({ kind: 'none' });
    expect((await store.create(pet)).id).toBeGreaterThan(64);
  });
});
