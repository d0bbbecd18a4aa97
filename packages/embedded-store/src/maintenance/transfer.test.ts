import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { collections, type Animal, animals as definition } from '@petstore/core';
import {
  type CollectionTransfer,
  fingerprint,
  type KeyRecord,
  type Store,
  type StoreTransfer,
} from '@petstore/core/store';
import { openEmbeddedStore, openEmbeddedTransfer } from '../index.ts';
import { openMongodbStore, openMongodbTransfer } from '@petstore/core/store/mongodb';
import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';

/** Data that is opened by a store or by a transfer, one at a time. */
interface TestData {
  openStore(): Promise<Store>;
  openTransfer(): Promise<StoreTransfer>;
  remove(): Promise<void>;
}

async function dataFolder(): Promise<TestData> {
  const dataDir = await mkdtemp(join(tmpdir(), 'petstore-'));
  return {
    openStore: () => openEmbeddedStore({ dataDir, collections }),
    openTransfer: () => openEmbeddedTransfer({ dataDir, collections }),
    remove: () => rm(dataDir, { recursive: true }),
  };
}

async function database(): Promise<TestData> {
  const options = testDatabase();
  return {
    openStore: () => openMongodbStore({ ...options, collections }),
    openTransfer: () => openMongodbTransfer({ ...options, collections }),
    remove: options.drop,
  };
}

const animals: Animal[] = [
  { id: 3, name: 'Rex', categoryId: 1 },
  { id: 7, name: 'a\u0000b', categoryId: Number.MIN_SAFE_INTEGER, status: 'available' },
  { id: 2 ** 40, name: '', categoryId: 0, status: 'sold' },
];
const keys: KeyRecord[] = [
  { hash: 'hash b', name: 'b', createdAt: 5, expiresAt: 7, revokedAt: 9, lastUsedAt: 8 },
  { hash: 'hash a', name: 'a', createdAt: 5 },
];
function definedKey(key: KeyRecord | undefined): KeyRecord {
  if (key === undefined) throw new Error('There is no such key.');
  return key;
}
const pet = { name: 'Rex', categoryId: 1 };
const petFingerprint = fingerprint(definition, pet);
const petsOf = (store: Store) => store.collection(definition);
const digest = (text: string) => createHash('sha256').update(text).digest('hex');

describe.each([
  { name: 'embedded', newData: dataFolder, isAvailable: true },
  { name: 'mongodb', newData: database, isAvailable: mongodbUri !== undefined },
])('StoreTransfer: $name', ({ newData, isAvailable }) => {
  describe.skipIf(!isAvailable)('a new store', () => {
    let data: TestData;
    let transfer: StoreTransfer;
    /** The animals of the open transfer. */
    const pets = (): CollectionTransfer => {
      const [collection] = transfer.collections;
      if (collection === undefined) throw new Error('There are no animals.');
      return collection;
    };
    beforeEach(async () => {
      data = await newData();
      transfer = await data.openTransfer();
    });
    afterEach(async () => {
      await transfer.close();
      await data.remove();
    });

    /** Opens the data as a store for one function. */
    async function asStore<T>(use: (store: Store) => T): Promise<Awaited<T>> {
      await transfer.close();
      const store = await data.openStore();
      const result = await use(store);
      await store.close();
      transfer = await data.openTransfer();
      return result;
    }

    test('isEmpty returns true until an id is assigned', async () => {
      expect(await transfer.isEmpty()).toBe(true);
      await pets().raiseLastId(0);
      await transfer.putKeys([]);
      await transfer.putReservations([]);
      await pets().raiseLastId(1);
      expect(await transfer.isEmpty()).toBe(false);
    });

    test('isEmpty returns false for a store with a key', async () => {
      await transfer.putKeys(keys);
      expect(await transfer.isEmpty()).toBe(false);
    });

    test('a transfer reads the animals in pages, the keys and the last id of a store', async () => {
      const created = await asStore(async (store) => {
        for (const key of keys) await store.keys.add(key);
        const stored: Animal[] = [];
        for (let count = 0; count < 5; count++)
          stored.push(await petsOf(store).create({ ...pet, status: 'sold' }));
        return stored;
      });
      const last = created.at(-1)?.id ?? 0;
      expect(await pets().count()).toBe(5);
      const first = await pets().records(0, 2);
      expect(first).toEqual(created.slice(0, 2));
      expect(await pets().records(first.at(-1)?.id ?? 0, 100)).toEqual(created.slice(2));
      expect(await pets().records(last, 100)).toEqual([]);
      expect(await transfer.keys()).toEqual(keys);
      expect(await pets().lastId()).toBeGreaterThanOrEqual(last);
    });

    test('a transfer neither counts nor reads deleted animals whose idempotency keys are valid', async () => {
      const kept = await asStore(async (store) => {
        const { record } = await petsOf(store).createOnce(pet, { caller: 'ada', key: 'key' });
        await petsOf(store).delete(record.id);
        return petsOf(store).create(pet);
      });
      expect(await pets().count()).toBe(1);
      expect(await pets().records(0, 10)).toEqual([kept]);
    });

    test('put and putKeys store animals under their ids and keys, and new ids follow', async () => {
      await pets().raiseLastId(2 ** 40);
      await pets().put(animals);
      await transfer.putKeys(keys);
      await asStore(async (store) => {
        for (const animal of animals) expect(await petsOf(store).get(animal.id)).toEqual(animal);
        expect(await petsOf(store).list({ limit: 10 })).toEqual({
          records: animals,
          hasNext: false,
        });
        expect(await petsOf(store).list({ limit: 10, where: { status: 'sold' } })).toMatchObject({
          records: animals.slice(2),
        });
        expect(await store.keys.list()).toEqual(keys);
        expect(await store.keys.addFirst({ hash: 'hash', name: 'first', createdAt: 1 })).toBe(false);
        expect((await petsOf(store).create(pet)).id).toBeGreaterThan(2 ** 40);
      });
    });

    test('put and putKeys change nothing if the data exists', async () => {
      for (let count = 0; count < 2; count++) {
        await pets().raiseLastId(2 ** 40);
        await pets().put(animals.slice(0, 1 + count * 2));
        await transfer.putKeys(keys.slice(0, 1 + count));
      }
      expect(await pets().records(0, 10)).toEqual(animals);
      expect(await pets().count()).toBe(3);
      expect(await transfer.keys()).toEqual(keys);
    });

    test('put fails with conflict for a different animal with the same id, and keeps the first', async () => {
      await pets().put(animals);
      const max = { id: 3, name: 'Max', categoryId: 1 };
      const other = pets().put([max]);
      await expect(other).rejects.toMatchObject({ code: 'conflict' });
      expect(await pets().records(0, 10)).toEqual(animals);
    });

    test('putKeys fails with conflict for a different key with the same name or hash', async () => {
      await transfer.putKeys(keys);
      for (const other of [
        { name: 'a' },
        { hash: 'hash a' },
        { name: 'a', hash: 'hash a' },
        { name: 'a', hash: 'hash a', createdAt: 5, expiresAt: 7 },
      ]) {
        const key = { hash: 'hash c', name: 'c', createdAt: 1, ...other };
        await expect(transfer.putKeys([key])).rejects.toMatchObject({ code: 'conflict' });
      }
      expect(await transfer.keys()).toEqual(keys);
    });

    test('putKeys adds a later use and a revocation to an existing key', async () => {
      const [revoked, valid] = keys;
      const { lastUsedAt: _used, revokedAt: _revoked, ...fresh } = definedKey(revoked);
      await transfer.putKeys([fresh, definedKey(valid)]);
      await transfer.putKeys([{ ...fresh, lastUsedAt: 8 }]);
      expect(await transfer.keys()).toEqual([{ ...fresh, lastUsedAt: 8 }, valid]);
      await transfer.putKeys(keys);
      expect(await transfer.keys()).toEqual(keys);
    });

    test('putKeys keeps the revocation and the later use of an existing key', async () => {
      await transfer.putKeys(keys);
      const { lastUsedAt: _used, revokedAt: _revoked, ...fresh } = definedKey(keys[0]);
      await transfer.putKeys([fresh]);
      await transfer.putKeys([{ ...fresh, lastUsedAt: 6 }]);
      expect(await transfer.keys()).toEqual(keys);
    });

    test('raiseLastId never lowers the last id', async () => {
      await pets().raiseLastId(500);
      await pets().raiseLastId(7);
      expect(await pets().lastId()).toBe(500);
    });

    test('reservations returns unexpired idempotency keys in pages, with the digest of caller and key', async () => {
      const created = await asStore(async (store) => {
        const once = async (key: string) => {
          const { record } = await petsOf(store).createOnce(pet, { caller: 'caller', key });
          return {
            digest: digest(`caller\n${key}`),
            fingerprint: petFingerprint,
            collection: 'animals',
            recordId: record.id,
          };
        };
        const unexpired = [await once('1'), await once('2'), await once('3')];
        // Last, because a new reservation may remove expired ones.
        vi.useFakeTimers({ toFake: ['Date'] });
        vi.setSystemTime(Date.now() - 86_400_000);
        await once('expired');
        vi.useRealTimers();
        return unexpired;
      });
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

      test('putReservations keeps the later expiry of an existing key', async () => {
        const later = put(Date.now() + 60_000);
        await transfer.putReservations([put(Date.now() + 30_000)]);
        await transfer.putReservations([later]);
        await transfer.putReservations([put(Date.now() + 30_000)]);
        expect(await transfer.reservations('', 10)).toEqual([later]);
      });

      test('putReservations replaces an expired key that was used again', async () => {
        const later = put(Date.now() + 60_000, { recordId: 7, fingerprint: 'g' });
        await transfer.putReservations([put(Date.now() - 1000)]);
        await transfer.putReservations([later]);
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

    test('createOnce with a copied idempotency key creates nothing after its animal was changed or deleted', async () => {
      const put = (key: string, recordId: number) => ({
        digest: digest(`caller\n${key}`),
        fingerprint: petFingerprint,
        collection: 'animals',
        recordId,
        expiresAt: Date.now() + 60_000,
      });
      await pets().raiseLastId(100);
      await pets().put([
        { id: 3, ...pet },
        { id: 4, ...pet },
      ]);
      await transfer.putReservations([put('changed', 3), put('deleted', 4)]);
      await asStore(async (store) => {
        const max = await petsOf(store).update(3, { name: 'Max' });
        await petsOf(store).delete(4);
        for (const [key, id] of [
          ['changed', 3],
          ['deleted', 4],
        ] as const) {
          const repeat = petsOf(store).createOnce(pet, { caller: 'caller', key });
          expect(await repeat).toEqual({ record: { id, ...pet }, isReplay: true });
        }
        expect((await petsOf(store).list({ limit: 10 })).records).toEqual([max]);
      });
      expect(await transfer.reservations('', 10)).toHaveLength(2);
    });

    test('createOnce with a copied idempotency key returns its animal', async () => {
      const [animal] = animals.slice(0, 1);
      const stored = {
        digest: digest('caller\nkey'),
        fingerprint: petFingerprint,
        collection: 'animals',
        recordId: 3,
        expiresAt: Date.now() + 60_000,
      };
      await pets().raiseLastId(100);
      await pets().put(animals);
      await transfer.putReservations([stored]);
      await transfer.putReservations([stored]);
      expect(await transfer.reservations('', 10)).toEqual([stored]);
      const repeat = await asStore((store) =>
        petsOf(store).createOnce(pet, { caller: 'caller', key: 'key' }),
      );
      expect(repeat).toEqual({ record: { ...animal, ...pet }, isReplay: true });
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
    await store.close();
    const transfer = await openMongodbTransfer({ ...options, collections });
    expect(await transfer.reservations('', 10)).toMatchObject([{ digest: digest('caller\nwhole') }]);
    await transfer.close();
    await options.drop();
  },
);

test('opening a transfer fails with unavailable if the database or the folder does not exist', async () => {
  await expect(
    openMongodbTransfer({ uri: 'mongodb://127.0.0.1:1', operationTimeoutMs: 500, collections }),
  ).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' });
  await expect(
    openEmbeddedTransfer({ dataDir: join(tmpdir(), 'petstore-nowhere'), create: false, collections }),
  ).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' });
});
