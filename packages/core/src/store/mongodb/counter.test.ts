import { Long, MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { animals, type Animal, type NewPet } from '../../procedures/animals.ts';
import type { Store } from '../store.ts';
import { mongodbUri } from '@petstore/testing/mongodb';
import { openMongodbTransfer } from './transfer.ts';
import { type ProxiedDatabase, proxiedDatabase } from './testing/proxiedDatabase.ts';

const pet = { name: 'Rex', categoryId: 1 };

/** The last id that was leased. */
async function leased({ uri, database }: ProxiedDatabase): Promise<number | undefined> {
  const client = new MongoClient(uri);
  onTestFinished(() => client.close());
  const counters = client.db(database).collection<{ _id: string; last: number }>('counters');
  return (await counters.findOne({ _id: 'animals' }))?.last;
}

describe.skipIf(mongodbUri === undefined)('ids', () => {
  test('are leased 64 at a time: creates at once share one lease', async () => {
    const database = await proxiedDatabase();
    const store = await database.open();
    const created = await Promise.all(
      Array.from({ length: 20 }, () => store.collection(animals).create(pet)),
    );
    expect(created.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(await leased(database)).toBe(64);
  });

  test('are leased before they are needed, when fewer than half of them are left', async () => {
    const database = await proxiedDatabase();
    const store = await database.open();
    await Promise.all(Array.from({ length: 34 }, () => store.collection(animals).create(pet)));
    await vi.waitFor(async () => expect(await leased(database)).toBe(128));
    expect(await store.collection(animals).create(pet)).toMatchObject({ id: 35 });
  });

  test('that were not used for 10 s are dropped', async () => {
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

  test('of several stores that create at once are unique, and ascend within each', async () => {
    const { open } = await proxiedDatabase();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open()));
    const created = await Promise.all(
      stores.map(async (store) => {
        const ids: number[] = [];
        for (let count = 0; count < 100; count++) ids.push((await store.collection(animals).create(pet)).id);
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
    await expect(store.collection(animals).create(pet)).rejects.toMatchObject({ code: 'unavailable' });
    proxy.set({ kind: 'none' });
    expect((await store.collection(animals).create(pet)).id).toBeGreaterThan(64);
  });
});

/** What the database holds, read and changed beside the store. */
async function besideStore({ uri, database }: ProxiedDatabase) {
  const client = new MongoClient(uri);
  onTestFinished(() => client.close());
  const db = client.db(database);
  const rows = db.collection<{ _id: number | Long; name: string; categoryId: Long }>('animals');
  return {
    /** Animals that nobody created through this store, as a restore of `animals` alone puts them. */
    restore: (ids: readonly number[]) =>
      rows.insertMany(
        ids.map((id) => ({ _id: Long.fromNumber(id), name: 'old', categoryId: Long.fromNumber(1) })),
      ),
    emptyCounters: () => db.collection('counters').deleteMany(),
    names: async () =>
      new Map((await rows.find().sort({ _id: 1 }).toArray()).map((row) => [Number(row._id), row.name])),
  };
}

const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);
const reservation = (key: string) => ({ caller: 'caller', key });

/** Creates with an idempotency key and without one, in turn. */
const createBoth = (store: Store, count: number, prefix: string): Promise<Animal[]> =>
  Promise.all(
    upTo(count).map(async (each) => {
      const named = { name: `${prefix} ${each}`, categoryId: 1 };
      if (each % 2 === 0) return store.collection(animals).create(named);
      return (await store.collection(animals).createOnce(named, reservation(named.name))).record;
    }),
  );

describe.skipIf(mongodbUri === undefined)(
  'a counter that is behind the animals, after a partial restore',
  () => {
    test('is raised when a store is opened: creates go on after the greatest id', async () => {
      const proxied = await proxiedDatabase();
      const { restore, names } = await besideStore(proxied);
      await restore([1, 2, 500]);
      const stores = await Promise.all(upTo(4).map(() => proxied.open()));
      await Promise.all(stores.map(async (store) => store.ready()));
      expect(await leased(proxied)).toBe(500);
      const created = await createBoth(await proxied.open(), 2, 'new');
      for (const { id, name } of created) {
        expect(id).toBeGreaterThan(500);
        expect((await names()).get(id)).toBe(name);
      }
    });

    test('is left alone when it is ahead of the animals, and not made without animals', async () => {
      const proxied = await proxiedDatabase();
      const first = await proxied.open();
      await first.ready();
      expect(await leased(proxied)).toBeUndefined();
      await first.collection(animals).create(pet);
      await first.close();
      await (await proxied.open()).ready();
      expect(await leased(proxied)).toBe(64);
    });

    test.for<[how: string, create: (store: Store, named: NewPet) => Promise<Animal>]>([
      ['without an idempotency key', (store, named) => store.collection(animals).create(named)],
      [
        'with an idempotency key',
        async (store, named) => {
          const { record } = await store.collection(animals).createOnce(named, reservation('key'));
          expect(await store.collection(animals).createOnce(named, reservation('key'))).toEqual({
            record,
            isReplay: true,
          });
          return record;
        },
      ],
    ])(
      'is raised while a store is open: a create %s is stored under a new id, and no animal is overwritten',
      async ([, create]) => {
        const proxied = await proxiedDatabase();
        const store = await proxied.open();
        await store.ready();
        const { restore, names } = await besideStore(proxied);
        await restore(upTo(300));
        const named = { name: 'new', categoryId: 1 };
        const animal = await create(store, named);
        expect(animal.id).toBeGreaterThan(300);
        expect(await store.collection(animals).get(animal.id)).toEqual({ ...named, id: animal.id });
        const old = upTo(300).map((id) => [id, 'old'] as const);
        expect(await names()).toEqual(new Map([...old, [animal.id, 'new']]));
      },
    );

    test('loses no create of several stores that find it out at once', async () => {
      const proxied = await proxiedDatabase();
      const stores = await Promise.all(upTo(4).map(() => proxied.open({ operationTimeoutMs: 20_000 })));
      // Ids that each has in hand already, and that the restored animals take.
      const before = await Promise.all(stores.map((store, index) => createBoth(store, 2, `before ${index}`)));
      const { restore, emptyCounters, names } = await besideStore(proxied);
      const taken = await names();
      await restore(upTo(400).filter((id) => !taken.has(id)));
      await emptyCounters();
      const after = await Promise.all(stores.map((store, index) => createBoth(store, 40, `after ${index}`)));
      const acknowledged = [...before.flat(), ...after.flat()];
      expect(new Set(acknowledged.map(({ id }) => id)).size).toBe(168);
      const stored = await names();
      for (const { id, name } of acknowledged) expect(stored.get(id)).toBe(name);
      expect(stored.size).toBe(400 + 160);
    });

    test('a repeat gives a reservation whose id was taken a new one, the same to all who repeat', async () => {
      const proxied = await proxiedDatabase();
      const crash = new Error('crashed');
      const first = await proxied.open({ afterReservation: () => Promise.reject(crash) });
      const named = { name: 'new', categoryId: 1 };
      await expect(first.collection(animals).createOnce(named, reservation('key'))).rejects.toMatchObject({
        cause: crash,
      });
      const { restore, names } = await besideStore(proxied);
      await restore(upTo(100));
      const stores = await Promise.all(upTo(4).map(() => proxied.open()));
      const repeats = await Promise.all(
        stores.flatMap((store) =>
          upTo(3).map(() => store.collection(animals).createOnce(named, reservation('key'))),
        ),
      );
      const [{ record } = { record: undefined }] = repeats;
      expect(record?.id).toBeGreaterThan(100);
      for (const repeat of repeats) expect(repeat).toEqual({ record, isReplay: true });
      expect((await names()).size).toBe(101);
      expect(await first.collection(animals).get(1)).toEqual({ id: 1, name: 'old', categoryId: 1 });
    });

    test('is not what a copy takes along: the copy raises the counter of its target to the greatest id', async () => {
      const proxied = await proxiedDatabase();
      const { restore } = await besideStore(proxied);
      await restore([1, 2, 500]);
      const transfer = await openMongodbTransfer({ ...proxied, create: false });
      onTestFinished(() => transfer.close());
      expect(await transfer.collections[0]?.lastId()).toBe(500);
    });
  },
);
