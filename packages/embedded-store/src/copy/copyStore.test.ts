import { type Animal, animals } from '@petstore/core';
import {
  type Collection,
  type CollectionTransfer,
  type CopyableStore,
  StoreError,
} from '@petstore/core/store';
import { categories } from '@petstore/core/store/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { mongodbUri } from '@petstore/testing/mongodb';
import { expect, test } from 'vitest';
import { animalsOf, inDatabase, inFolder } from '../testing/testData.ts';
import { copyStore } from './copyStore.ts';

// What a store does with the data of a copy: ../transfer.test.ts.

const animal = (id: number): Animal => ({ id, name: `${id} \u0000 🐕`, categoryId: -id, status: 'sold' });
const animalsUpTo = (count: number) => Array.from({ length: count }, (_, index) => animal(1 + index));
const keys = [
  { hash: 'b', name: 'first', createdAt: 1, revokedAt: 5 },
  { hash: 'a', name: 'second', createdAt: 2, lastUsedAt: 3 },
];

/** Opens a new folder until the test ends. */
async function newStore(count = 0): Promise<CopyableStore> {
  const store = await inFolder([animals]);
  if (count === 0) return store;
  await animalsOf(store).raiseLastId(count * 2);
  await animalsOf(store).put(animalsUpTo(count));
  for (const key of keys) await store.keys.add(key);
  const reservation = {
    fingerprint: 'f',
    collection: 'animals',
    recordId: 1,
    expiresAt: Date.now() + 60_000,
  };
  await store.transfer().putReservations([{ ...reservation, digest: 'ab'.repeat(32) }]);
  return store;
}

const withCollections = (store: CopyableStore, collections: CollectionTransfer[]): CopyableStore => ({
  ...store,
  transfer: () => ({ ...store.transfer(), collections }),
});

/** Replaces how a store stores the animals of a copy. */
const withPut = (store: CopyableStore, put: CollectionTransfer['put']): CopyableStore =>
  withCollections(store, [{ ...animalsOf(store), put }]);

const errorOf = (copying: Promise<unknown>) =>
  copying.then(
    () => 'nothing',
    ({ code, message }: StoreError) => `${code}: ${message}`,
  );

test('copyStore raises the id counter before it stores the first animal', async () => {
  const [from, to] = [await newStore(10), await newStore()];
  const put: CollectionTransfer['put'] = async (records) => {
    expect(await animalsOf(to).lastId()).toBe(20);
    return animalsOf(to).put(records);
  };
  expect(await copyStore(from, withPut(to, put))).toMatchObject({ collections: [{ records: 10 }] });
});

test.for([1, 2, 5])(
  'copyStore completes a copy that was interrupted at batch %d, and stores only missing animals',
  async (batch) => {
    const [from, to] = [await newStore(5_000), await newStore()];
    let batches = 0;
    const puts: Promise<number>[] = [];
    const put: CollectionTransfer['put'] = async (records) => {
      if (++batches === batch) throw new StoreError('unavailable', 'gone');
      const putting = animalsOf(to).put(records);
      puts.push(putting);
      return putting;
    };
    expect(await errorOf(copyStore(from, withPut(to, put)))).toBe('unavailable: gone');
    await Promise.all(puts);
    const copied = await animalsOf(to).count();
    expect(copied).toBeLessThan(5_000);
    expect(await to.transfer().reservations('', 10)).toEqual([]);
    expect(await copyStore(from, to)).toEqual({
      collections: [{ name: 'animals', recordName: 'animal', records: 5_000, put: 5_000 - copied }],
      keys: 2,
      reservations: 1,
      checksum: expect.stringMatching(/^[\da-f]{64}$/),
    });
    expect(await animalsOf(to).records(0, 9_000)).toEqual(animalsUpTo(5_000));
  },
);

test('copyStore reads no further while four batches are being stored', async () => {
  const [from, to] = [await newStore(9_000), await newStore()];
  let storing = 0;
  let most = 0;
  const put: CollectionTransfer['put'] = async (records) => {
    most = Math.max(most, (storing += 1));
    await sleep(20);
    const stored = await animalsOf(to).put(records);
    storing -= 1;
    return stored;
  };
  await copyStore(from, withPut(to, put));
  expect(most).toBe(4);
});

test.for([
  ['a different animal', { ...animal(2), name: 'Max' }, 'a different animal 2 than the source'],
  ['an additional animal', animal(52), 'animals that the source does not have'],
] as const)('copyStore rejects a target that has %s', async ([, stored, what]) => {
  const [from, to] = [await newStore(51), await newStore()];
  await animalsOf(to).put([stored]);
  expect(await errorOf(copyStore(from, to))).toBe(
    `conflict: The target has ${what}. Choose an empty target.`,
  );
});

test.for([
  ['an additional key', { hash: 'c', name: 'theirs', createdAt: 1 }, {}],
  [
    'a valid key that is revoked in the source',
    { hash: 'b', name: 'first', createdAt: 1 },
    { revoke: async () => undefined },
  ],
] as const)('copyStore rejects a target with %s, and copies no animals', async ([, theirs, changed]) => {
  const [from, to] = [await newStore(5), await newStore()];
  await to.keys.add(theirs);
  expect(await errorOf(copyStore(from, { ...to, keys: { ...to.keys, ...changed } }))).toBe(
    'conflict: The target has API keys that the source does not have. Choose an empty target.',
  );
  expect(await animalsOf(to).count()).toBe(0);
});

test('copyStore rejects a target without a collection of the source', async () => {
  const [from, to] = [await newStore(5), await newStore()];
  expect(await errorOf(copyStore(from, withCollections(to, [])))).toBe(
    'conflict: The target has no collection "animals": open both with the same collections.',
  );
});

test.for<[what: string, store: (records: readonly Animal[]) => readonly Animal[], count: number]>([
  ['returns other animals than were stored', (all) => all.map((each) => ({ ...each, name: 'Rex' })), 100],
  ['lacks an animal', (all) => all.slice(0, -1), 99],
])('copyStore fails if the target %s', async ([, change, count]) => {
  const [from, to] = [await newStore(100), await newStore()];
  const lossy = withPut(to, (records) => animalsOf(to).put(change(records as Animal[])));
  expect(await errorOf(copyStore(from, lossy))).toMatch(
    new RegExp(
      `^damaged: The copy differs from the source: ${count} of 100 animals, with checksum \\w{64} instead of \\w{64}\\.$`,
    ),
  );
});

test('copyStore fails if the source changes during the copy', async () => {
  const [from, to] = [await newStore(100), await newStore()];
  const put: CollectionTransfer['put'] = async (records) => {
    await animalsOf(from).put([animal(101)]);
    return animalsOf(to).put(records);
  };
  expect(await errorOf(copyStore(from, withPut(to, put)))).toBe(
    'damaged: The source changed during the copy. Stop its servers first.',
  );
});

const rex = { name: 'Rex', categoryId: 1 };
const reservation = { caller: 'caller', key: 'key' };

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
    const [source, target] = [await from([animals, categories]), await to([animals, categories])];
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
    // A copy has the key of the deleted animal too.
    const copy = await inFolder([animals, categories]);
    expect(await copyStore(target, copy)).toMatchObject({ reservations: 2 });
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
