import { mongodbUri } from '@petstore/testing/mongodb';
import { expect, test } from 'vitest';
import { type Animal, animals } from '@petstore/core';
import type { Collection, Store } from '@petstore/core/store';
import { categories } from '@petstore/core/store/testing';
import { database, dataFolder, type TestData } from '../testing/testData.ts';
import { copyStore } from './copyStore.ts';

const collections = [animals, categories];

/** Opens data as a store for one function. */
async function asStore<T>({ openStore }: TestData, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function copy(from: TestData, to: TestData) {
  const [source, target] = [await from.openTransfer(), await to.openTransfer()];
  const copied = await copyStore(source, target);
  await source.close();
  await target.close();
  return copied;
}

const rex = { name: 'Rex', categoryId: 1 };
const reservation = { caller: 'caller', key: 'key' };
const keys = [
  { hash: 'hash b', name: 'b', createdAt: 5, expiresAt: 7 },
  { hash: 'hash a', name: 'a', createdAt: 5 },
];

const allOf = async <Stored extends { readonly id: number }>(records: Collection<Stored>) =>
  (await records.list({ limit: 100 })).records;

test.for([
  ['a data folder to a data folder', dataFolder, dataFolder],
  ...(mongodbUri === undefined
    ? []
    : [
        ['a data folder to a database', dataFolder, database] as const,
        ['a database to a data folder', database, dataFolder] as const,
      ]),
] as const)(
  'a copy from %s has all collections with their indexes, ids and idempotency keys',
  async ([, from, to]) => {
    const [source, target] = [await from(collections), await to(collections)];
    const stored = await asStore(source, async (store) => {
      const [pets, kinds] = [store.collection(animals), store.collection(categories)];
      const { record } = await pets.createOnce(rex, reservation);
      await pets.update(record.id, { name: 'Max', status: 'sold' });
      await pets.create(rex);
      const gone = await pets.createOnce(rex, { ...reservation, key: 'gone' });
      await pets.delete(gone.record.id);
      for (const key of keys) await store.keys.add(key);
      const dogs = await kinds.create({ name: 'Dogs', tags: [{ tag: 'bark' }] });
      await kinds.update(dogs.id, { name: 'Hounds' }, { ifVersion: 1 });
      return { record, gone: gone.record, pets: await allOf(pets), kinds: await allOf(kinds) };
    });

    expect(await copy(source, target)).toMatchObject({
      collections: [
        { name: 'animals', records: 2, put: 2 },
        { name: 'categories', recordName: 'category', records: 1, put: 1 },
      ],
      keys: 2,
      reservations: 2,
    });
    await asStore(target, async (store) => {
      const [pets, kinds] = [store.collection(animals), store.collection(categories)];
      expect([await allOf(pets), await allOf(kinds)]).toEqual([stored.pets, stored.kinds]);
      expect(await pets.list({ limit: 10, where: { status: 'sold' } })).toMatchObject({
        records: [{ name: 'Max' }],
      });
      expect(await store.keys.list()).toEqual(keys);
      expect(await store.keys.addFirst({ hash: 'hash', name: 'first', createdAt: 1 })).toBe(false);
      await expect(kinds.create({ name: 'Hounds' })).rejects.toMatchObject({ code: 'conflict' });
      expect(await pets.createOnce(rex, reservation)).toEqual({ record: stored.record, isReplay: true });
      const gone = await pets.createOnce(rex, { ...reservation, key: 'gone' });
      expect(gone).toEqual({ record: stored.gone, isReplay: true });
      expect(await allOf(pets)).toEqual(stored.pets);
      const next: Animal = await pets.create(rex);
      expect(next.id).toBeGreaterThan(stored.gone.id);
      expect((await kinds.create({ name: 'Cats' })).id).toBeGreaterThan(1);
    });
  },
);
