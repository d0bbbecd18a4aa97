import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { collections, type Animal, animals as definition } from '@petstore/core';
import {
  type CopyableStore,
  fingerprint,
  type KeyRecord,
  type Store,
  type StoreTransfer,
} from '@petstore/core/store';
import { copyKeys, isEmptyStore } from './copy/copyStore.ts';
import { animalsOf, inDatabase, inFolder } from './testing/testData.ts';
import { openMongodbStore } from '@petstore/core/store/mongodb';
import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';

const animals: Animal[] = [
  { id: 3, name: 'Rex', categoryId: 1 },
  { id: 7, name: 'a\u0000b', categoryId: Number.MIN_SAFE_INTEGER, status: 'available' },
  { id: 2 ** 40, name: '', categoryId: 0, status: 'sold' },
];
const fresh: KeyRecord = { hash: 'hash b', name: 'b', createdAt: 5, expiresAt: 7 };
const revoked: KeyRecord = { ...fresh, revokedAt: 9, lastUsedAt: 8 };
const valid: KeyRecord = { hash: 'hash a', name: 'a', createdAt: 5 };
const keys = [revoked, valid];
const pet = { name: 'Rex', categoryId: 1 };
const petFingerprint = fingerprint(definition, pet);
const petsOf = (store: Store) => store.collection(definition);
const digest = (text: string) => createHash('sha256').update(text).digest('hex');

describe.each([
  { name: 'embedded', newStore: inFolder, isAvailable: true },
  { name: 'mongodb', newStore: inDatabase, isAvailable: mongodbUri !== undefined },
])('StoreTransfer: $name', ({ newStore, isAvailable }) => {
  describe.skipIf(!isAvailable)('a new store', () => {
    let store: CopyableStore;
    let transfer: StoreTransfer;
    const putKeys = (put: KeyRecord[]) => copyKeys({ list: () => put }, store.keys);
    const pets = () => animalsOf(store);
    beforeEach(async () => {
      store = await newStore(collections);
      transfer = store.transfer();
    });

    test('a store is empty until an id is assigned, and raiseLastId never lowers it', async () => {
      expect(await isEmptyStore(store)).toBe(true);
      await pets().raiseLastId(0);
      await putKeys([]);
      await transfer.putReservations([]);
      await pets().raiseLastId(1);
      expect(await isEmptyStore(store)).toBe(false);
      for (const id of [500, 7]) await pets().raiseLastId(id);
      expect(await pets().lastId()).toBe(500);
    });

    test('a transfer reads the animals in pages and the last id of a store', async () => {
      const created: Animal[] = [];
      for (let count = 0; count < 5; count++)
        created.push(await petsOf(store).create({ ...pet, status: 'sold' }));
      const last = created.at(-1)?.id ?? 0;
      expect(await pets().count()).toBe(5);
      const first = await pets().records(0, 2);
      expect(first).toEqual(created.slice(0, 2));
      expect(await pets().records(first.at(-1)?.id ?? 0, 100)).toEqual(created.slice(2));
      expect(await pets().records(last, 100)).toEqual([]);
      expect(await pets().lastId()).toBeGreaterThanOrEqual(last);
    });

    test('put and copyKeys change nothing if the data exists, and put fails with conflict for a different animal', async () => {
      for (let count = 0; count < 2; count++) {
        await pets().raiseLastId(2 ** 40);
        // The second one has a record that exists.
        expect(await pets().put(animals.slice(0, 1 + count * 2))).toBe(1 + count);
        await putKeys(keys.slice(0, 1 + count));
      }
      const max: Animal = { id: 3, name: 'Max', categoryId: 1 };
      await expect(pets().put([max])).rejects.toMatchObject({ code: 'conflict' });
      expect(await pets().records(0, 10)).toEqual(animals);
      expect(await pets().count()).toBe(3);
      expect(await store.keys.list()).toEqual(keys);
    });

    test('copyKeys fails with conflict for a different key with the same name or hash, and adds no other', async () => {
      await putKeys(keys);
      expect(await isEmptyStore(store)).toBe(false);
      for (const other of [
        { name: 'a' },
        { hash: 'hash a' },
        { name: 'a', hash: 'hash a' },
        { name: 'a', hash: 'hash a', createdAt: 5, expiresAt: 7 },
      ]) {
        const key = { hash: 'hash c', name: 'c', createdAt: 1, ...other };
        const same = keys.filter(({ hash, name }) => hash !== key.hash && name !== key.name);
        const another = { hash: 'hash d', name: 'd', createdAt: 1 };
        await expect(putKeys([another, ...same, key])).rejects.toMatchObject({ code: 'conflict' });
      }
      expect(await store.keys.list()).toEqual(keys);
    });

    test('copyKeys adds a later use and a revocation to an existing key, and removes none', async () => {
      await putKeys([fresh, valid]);
      await putKeys([{ ...fresh, lastUsedAt: 8 }, valid]);
      expect(await store.keys.list()).toEqual([{ ...fresh, lastUsedAt: 8 }, valid]);
      await putKeys(keys);
      expect(await store.keys.list()).toEqual(keys);
      await putKeys([{ ...revoked, lastUsedAt: 6 }, valid]);
      expect(await store.keys.list()).toEqual(keys);
    });

    test('reservations returns unexpired idempotency keys in pages, with the digest of caller and key', async () => {
      const once = async (key: string) => {
        const { record } = await petsOf(store).createOnce(pet, { caller: 'caller', key });
        return {
          digest: digest(`caller\n${key}`),
          fingerprint: petFingerprint,
          collection: 'animals',
          recordId: record.id,
        };
      };
      const created = [await once('1'), await once('2'), await once('3')];
      // Last, because a new reservation may remove expired ones.
      vi.useFakeTimers({ toFake: ['Date'] });
      vi.setSystemTime(Date.now() - 86_400_000);
      await once('expired');
      vi.useRealTimers();
      const sorted = created.toSorted((one, other) => (one.digest < other.digest ? -1 : 1));
      const first = await transfer.reservations('', 2);
      const rest = await transfer.reservations(first.at(-1)?.digest ?? '', 2);
      expect([...first, ...rest]).toMatchObject(sorted);
      expect(first).toHaveLength(2);
      for (const { expiresAt } of first) expect(expiresAt).toBeGreaterThan(Date.now() + 86_000_000);
    });

    test('records ends a page with the animal that reaches maxBytes', async () => {
      const large = [1, 2, 3, 4].map((id) => ({ id, name: 'é'.repeat(50_000), categoryId: 1 }));
      await pets().put(large);
      expect((await pets().records(0, 10, 150_000)).map(({ id }) => id)).toEqual([1, 2]);
      expect((await pets().records(2, 10, 1)).map(({ id }) => id)).toEqual([3]);
      expect((await pets().records(0, 3, 1_000_000)).map(({ id }) => id)).toEqual([1, 2, 3]);
    });

    describe('putReservations', () => {
      const put = (expiresAt: number, other: object = {}) => ({
        digest: digest('caller\nkey'),
        fingerprint: petFingerprint,
        collection: 'animals',
        recordId: 3,
        expiresAt,
        ...other,
      });
      beforeEach(() => pets().put(animals));

      test('putReservations replaces an expired key that was used again, and keeps the later expiry of a valid one', async () => {
        const now = Date.now();
        const later = put(now + 60_000);
        await transfer.putReservations([put(now - 1000, { recordId: 7, fingerprint: 'g' })]);
        for (const each of [put(now + 30_000), later, put(now + 30_000)])
          await transfer.putReservations([each]);
        expect(await transfer.reservations('', 10)).toEqual([later]);
      });

      test.for([{ fingerprint: 'g' }, { recordId: 7 }])(
        'putReservations fails with conflict if an unexpired key belongs to another create: %j',
        async (other) => {
          const stored = put(Date.now() + 30_000);
          await transfer.putReservations([stored]);
          const putting = transfer.putReservations([
            { ...stored, digest: digest('another') },
            put(Date.now() + 60_000, other),
          ]);
          await expect(putting).rejects.toMatchObject({ code: 'conflict' });
          expect(await transfer.reservations('', 10)).toEqual([stored]);
        },
      );
    });
  });
});

test.skipIf(mongodbUri === undefined)(
  'reservations omits an idempotency key without a record, left by a failed create',
  async () => {
    const options = testDatabase();
    const store = await openMongodbStore({
      ...options,
      afterReservation: ({ key }) =>
        key === 'halfway' ? Promise.reject(new Error('crashed')) : Promise.resolve(),
      collections,
    });
    const once = (key: string) => petsOf(store).createOnce(pet, { caller: 'caller', key });
    await once('whole');
    await expect(once('halfway')).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(await store.transfer().reservations('', 10)).toMatchObject([{ digest: digest('caller\nwhole') }]);
    await store.close();
    await options.drop();
  },
);
