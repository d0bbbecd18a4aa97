import { Long } from 'mongodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { animals, type Animal } from '../../procedures/animals.ts';
import type { Store } from '../store.ts';
import { mongodbUri } from '@petstore/testing/mongodb';
import { type ProxiedDatabase, proxiedDatabase } from './testing/proxiedDatabase.ts';

const pet = { name: 'Rex', categoryId: 1 };

async function lastLeasedId({ connect }: ProxiedDatabase): Promise<number | undefined> {
  const counters = connect().collection<{ _id: string; last: number }>('counters');
  return (await counters.findOne({ _id: 'animals' }))?.last;
}

describe.skipIf(mongodbUri === undefined)('ids', () => {
  test('concurrent creates share a lease of 64 ids, and the next is taken when fewer than half of them are left', async () => {
    const database = await proxiedDatabase();
    const pets = (await database.open()).collection(animals);
    const create = (count: number) => Promise.all(idsUpTo(count).map(() => pets.create(pet)));
    expect((await create(20)).map(({ id }) => id)).toEqual(idsUpTo(20));
    expect(await lastLeasedId(database)).toBe(64);
    await create(14);
    await vi.waitFor(async () => expect(await lastLeasedId(database)).toBe(128));
    expect(await pets.create(pet)).toMatchObject({ id: 35 });
  });

  test('leased ids that were not used for 10 s are dropped', async () => {
    const { open } = await proxiedDatabase();
    const [one, other] = [await open(), await open()];
    expect(await one.collection(animals).create(pet)).toMatchObject({ id: 1 });
    expect(await other.collection(animals).create(pet)).toMatchObject({ id: 65 });
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    vi.advanceTimersByTime(10_000);
    expect(await one.collection(animals).create(pet)).toMatchObject({ id: 2 });
    vi.advanceTimersByTime(10_001);
    expect(await one.collection(animals).create(pet)).toMatchObject({ id: 129 });
  });

  test('creates continue with a new block after the response to a lease was lost', async () => {
    const { proxy, open } = await proxiedDatabase(5000);
    const store = await open();
    await store.ready();
    proxy.set({ kind: 'cutResponses', percent: 100, only: 'counters' });
    await expect(store.collection(animals).create(pet)).rejects.toMatchObject({ code: 'unavailable' });
    proxy.set({ kind: 'none' });
    expect((await store.collection(animals).create(pet)).id).toBeGreaterThan(64);
  });
});

/** Reads and changes the database directly. */
function directAccess({ connect }: ProxiedDatabase) {
  const db = connect();
  const rows = db.collection<{ _id: number | Long; name: string; categoryId: Long }>('animals');
  return {
    /** Inserts animals without the counter, as a restore of only `animals` does. */
    restore: (ids: readonly number[]) =>
      rows.insertMany(
        ids.map((id) => ({ _id: Long.fromNumber(id), name: 'old', categoryId: Long.fromNumber(1) })),
      ),
    emptyCounters: () => db.collection('counters').deleteMany(),
    names: async () =>
      new Map((await rows.find().sort({ _id: 1 }).toArray()).map((row) => [Number(row._id), row.name])),
  };
}

const idsUpTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);
const reservation = (key: string) => ({ caller: 'caller', key });

/** Creates animals, alternately with and without an idempotency key. */
const createBoth = (store: Store, count: number, prefix: string): Promise<Animal[]> =>
  Promise.all(
    idsUpTo(count).map(async (each) => {
      const named = { name: `${prefix} ${each}`, categoryId: 1 };
      if (each % 2 === 0) return store.collection(animals).create(named);
      return (await store.collection(animals).createOnce(named, reservation(named.name))).record;
    }),
  );

describe.skipIf(mongodbUri === undefined)(
  'a counter below the ids of stored animals, after a partial restore',
  () => {
    test('opening a store raises the counter to the greatest id', async () => {
      const proxied = await proxiedDatabase();
      const { restore, names } = directAccess(proxied);
      await restore([1, 2, 500]);
      const stores = await Promise.all(idsUpTo(4).map(() => proxied.open()));
      await Promise.all(stores.map(async (store) => store.ready()));
      expect(await lastLeasedId(proxied)).toBe(500);
      const created = await createBoth(await proxied.open(), 2, 'new');
      for (const { id, name } of created) {
        expect(id).toBeGreaterThan(500);
        expect((await names()).get(id)).toBe(name);
      }
    });

    test('opening a store keeps a counter above all ids, and creates none without animals', async () => {
      const proxied = await proxiedDatabase();
      const first = await proxied.open();
      await first.ready();
      expect(await lastLeasedId(proxied)).toBeUndefined();
      await first.collection(animals).create(pet);
      await first.close();
      await (await proxied.open()).ready();
      expect(await lastLeasedId(proxied)).toBe(64);
    });

    test('concurrent creates of several stores on such a counter are all stored', async () => {
      const proxied = await proxiedDatabase();
      const stores = await Promise.all(idsUpTo(4).map(() => proxied.open()));
      // Each store has leased ids already, which the restored animals take.
      const before = await Promise.all(stores.map((store, index) => createBoth(store, 2, `before ${index}`)));
      const { restore, emptyCounters, names } = directAccess(proxied);
      const taken = await names();
      await restore(idsUpTo(400).filter((id) => !taken.has(id)));
      await emptyCounters();
      const after = await Promise.all(stores.map((store, index) => createBoth(store, 40, `after ${index}`)));
      const acknowledged = [...before.flat(), ...after.flat()];
      expect(new Set(acknowledged.map(({ id }) => id)).size).toBe(168);
      const stored = await names();
      for (const { id, name } of acknowledged) expect(stored.get(id)).toBe(name);
      // None was overwritten.
      expect(stored.size).toBe(400 + 160);
      expect(Array.from(stored.values()).filter((name) => name === 'old')).toHaveLength(400 - taken.size);
    });

    test('concurrent retries of a reservation with a taken id all get one new record', async () => {
      const proxied = await proxiedDatabase();
      const crash = new Error('crashed');
      const first = await proxied.open({ afterReservation: () => Promise.reject(crash) });
      const named = { name: 'new', categoryId: 1 };
      await expect(first.collection(animals).createOnce(named, reservation('key'))).rejects.toMatchObject({
        code: 'outcome-unknown',
        cause: crash,
      });
      const { restore, names } = directAccess(proxied);
      await restore(idsUpTo(100));
      const stores = await Promise.all(idsUpTo(4).map(() => proxied.open()));
      const retries = await Promise.all(
        stores.flatMap((store) =>
          idsUpTo(3).map(() => store.collection(animals).createOnce(named, reservation('key'))),
        ),
      );
      const [{ record } = { record: undefined }] = retries;
      expect(record?.id).toBeGreaterThan(100);
      for (const retry of retries) expect(retry.record).toEqual(record);
      expect(retries.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
      expect((await names()).size).toBe(101);
      expect(await first.collection(animals).get(1)).toEqual({ id: 1, name: 'old', categoryId: 1 });
    });
  },
);
