import { mongodbUri } from '@petstore/testing/mongodb';
import { expect, test } from 'vitest';
import { type Animal, animals } from '@petstore/core';
import type { Collection } from '@petstore/core/store';
import { categories } from '@petstore/core/store/testing';
import { inDatabase, inFolder } from '../testing/testData.ts';
import { copyStore } from './copyStore.ts';

const collections = [animals, categories];

const rex = { name: 'Rex', categoryId: 1 };
const reservation = { caller: 'caller', key: 'key' };
const keys = [
  { hash: 'hash b', name: 'b', createdAt: 5, expiresAt: 7 },
  { hash: 'hash a', name: 'a', createdAt: 5 },
];

const allOf = async <Stored extends { readonly id: number }>(records: Collection<Stored>) =>
  (await records.list({ limit: 100 })).records;

test.for([
  ['a data folder to a data folder', inFolder, inFolder],
  ...(mongodbUri === undefined
    ? []
    : [
        ['a data folder to a database', inFolder, inDatabase] as const,
        ['a database to a data folder', inDatabase, inFolder] as const,
      ]),
] as const)(
  'a copy from %s has all collections with their indexes, ids and idempotency keys',
  async ([, from, to]) => {
    const [source, target] = [await from(collections), await to(collections)];
    const [pets, kinds] = [source.collection(animals), source.collection(categories)];
    const { record } = await pets.createOnce(rex, reservation);
    await pets.update(record.id, { name: 'Max', status: 'sold' });
    await pets.create(rex);
    const gone = await pets.createOnce(rex, { ...reservation, key: 'gone' });
    await pets.delete(gone.record.id);
    for (const key of keys) await source.keys.add(key);
    const dogs = await kinds.create({ name: 'Dogs', tags: [{ tag: 'bark' }] });
    await kinds.update(dogs.id, { name: 'Hounds' }, { ifVersion: 1 });

    expect(await copyStore(source, target)).toMatchObject({
      collections: [
        { name: 'animals', records: 2, put: 2 },
        { name: 'categories', recordName: 'category', records: 1, put: 1 },
      ],
      keys: 2,
      reservations: 2,
    });
    const [copied, copiedKinds] = [target.collection(animals), target.collection(categories)];
    expect(await allOf(copied)).toEqual(await allOf(pets));
    expect(await allOf(copiedKinds)).toEqual(await allOf(kinds));
    expect(await copied.list({ limit: 10, where: { status: 'sold' } })).toMatchObject({
      records: [{ name: 'Max' }],
    });
    expect(await target.keys.list()).toEqual(keys);
    expect(await target.keys.addFirst({ hash: 'hash', name: 'first', createdAt: 1 })).toBe(false);
    await expect(copiedKinds.create({ name: 'Hounds' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await copied.createOnce(rex, reservation)).toEqual({ record, isReplay: true });
    const again = await copied.createOnce(rex, { ...reservation, key: 'gone' });
    expect(again).toEqual({ record: gone.record, isReplay: true });
    expect(await allOf(copied)).toEqual(await allOf(pets));
    const next: Animal = await copied.create(rex);
    expect(next.id).toBeGreaterThan(gone.record.id);
    expect((await copiedKinds.create({ name: 'Cats' })).id).toBeGreaterThan(1);
  },
);
