import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Animal, animals as definition } from '../procedures/animals.ts';
import { fingerprint } from './record.ts';
import { openEmbeddedStore, openEmbeddedTransfer } from './embedded/index.ts';
import { openMongodbStore, openMongodbTransfer } from './mongodb/index.ts';
import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';
import type { KeyRecord, Store } from './store.ts';
import type { CollectionTransfer, StoreTransfer } from './transfer.ts';

/** Data of which a store or a transfer is open, never both. */
interface Place {
  openStore(): Promise<Store>;
  openTransfer(): Promise<StoreTransfer>;
  remove(): Promise<void>;
}

async function dataFolder(): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), 'petstore-'));
  return {
    openStore: () => openEmbeddedStore({ dataDir }),
    openTransfer: () => openEmbeddedTransfer({ dataDir }),
    remove: () => rm(dataDir, { recursive: true }),
  };
}

async function database(): Promise<Place> {
  const options = testDatabase();
  return {
    openStore: () => openMongodbStore(options),
    openTransfer: () => openMongodbTransfer(options),
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
function keyOf(key: KeyRecord | undefined): KeyRecord {
  if (key === undefined) throw new Error('There is no such key.');
  return key;
}
const pet = { name: 'Rex', categoryId: 1 };
const print = fingerprint(definition, pet);
const petsOf = (store: Store) => store.collection(definition);
const digest = (text: string) => createHash('sha256').update(text).digest('hex');

describe.each([
  { name: 'embedded', newPlace: dataFolder, isHere: true },
  { name: 'mongodb', newPlace: database, isHere: mongodbUri !== undefined },
])('a transfer: $name', ({ newPlace, isHere }) => {
  describe.skipIf(!isHere)('with data of its own', () => {
    let place: Place;
    let transfer: StoreTransfer;
    /** The animals of the transfer that is open. */
    const pets = (): CollectionTransfer => {
      const [found] = transfer.collections;
      if (found === undefined) throw new Error('There are no animals.');
      return found;
    };
    beforeEach(async () => {
      place = await newPlace();
      transfer = await place.openTransfer();
    });
    afterEach(async () => {
      await transfer.close();
      await place.remove();
    });

    /** The store on the same data, for one use. */
    async function asStore<T>(use: (store: Store) => T): Promise<Awaited<T>> {
      await transfer.close();
      const store = await place.openStore();
      const result = await use(store);
      await store.close();
      transfer = await place.openTransfer();
      return result;
    }

    test('is empty until an animal, a key or an id is there', async () => {
      expect(await transfer.isEmpty()).toBe(true);
      await pets().raiseLastId(0);
      await transfer.putKeys([]);
      await transfer.putReservations([]);
      await pets().raiseLastId(1);
      expect(await transfer.isEmpty()).toBe(false);
    });

    test('with a key is not empty', async () => {
      await transfer.putKeys(keys);
      expect(await transfer.isEmpty()).toBe(false);
    });

    test('reads what a store has: animals in pages, keys, the last id', async () => {
      const created = await asStore(async (store) => {
        for (const key of keys) await store.keys.add(key);
        const made: Animal[] = [];
        for (let count = 0; count < 5; count++)
          made.push(await petsOf(store).create({ ...pet, status: 'sold' }));
        return made;
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

    test('puts what a store then has, under the same ids, and new ids come after', async () => {
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

    test('to put the same again changes nothing', async () => {
      for (let count = 0; count < 2; count++) {
        await pets().raiseLastId(2 ** 40);
        await pets().put(animals.slice(0, 1 + count * 2));
        await transfer.putKeys(keys.slice(0, 1 + count));
      }
      expect(await pets().records(0, 10)).toEqual(animals);
      expect(await pets().count()).toBe(3);
      expect(await transfer.keys()).toEqual(keys);
    });

    test('another animal under an id is a conflict, and the first stays', async () => {
      await pets().put(animals);
      const max = { id: 3, name: 'Max', categoryId: 1 };
      const other = pets().put([max]);
      await expect(other).rejects.toMatchObject({ code: 'conflict' });
      expect(await pets().records(0, 10)).toEqual(animals);
    });

    test('another key of the same name or hash is a conflict', async () => {
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

    test('a key that is there takes over the later use and the revocation of the one that is put', async () => {
      const [marked, good] = keys;
      const { lastUsedAt: _used, revokedAt: _revoked, ...fresh } = keyOf(marked);
      await transfer.putKeys([fresh, keyOf(good)]);
      await transfer.putKeys([{ ...fresh, lastUsedAt: 8 }]);
      expect(await transfer.keys()).toEqual([{ ...fresh, lastUsedAt: 8 }, good]);
      await transfer.putKeys(keys);
      expect(await transfer.keys()).toEqual(keys);
    });

    test('a key that is there stays revoked, and keeps its later use, when it is put without them', async () => {
      await transfer.putKeys(keys);
      const { lastUsedAt: _used, revokedAt: _revoked, ...fresh } = keyOf(keys[0]);
      await transfer.putKeys([fresh]);
      await transfer.putKeys([{ ...fresh, lastUsedAt: 6 }]);
      expect(await transfer.keys()).toEqual(keys);
    });

    test('the last id is never lowered', async () => {
      await pets().raiseLastId(500);
      await pets().raiseLastId(7);
      expect(await pets().lastId()).toBe(500);
    });

    test('idempotency keys come with the digest of caller and key, in pages, and without the expired ones', async () => {
      const made = await asStore(async (store) => {
        const once = async (key: string) => {
          const { record } = await petsOf(store).createOnce(pet, { caller: 'caller', key });
          return {
            digest: digest(`caller\n${key}`),
            fingerprint: print,
            collection: 'animals',
            recordId: record.id,
          };
        };
        const good = [await once('1'), await once('2'), await once('3')];
        // Last, for a new one may clear away what has expired.
        vi.useFakeTimers({ toFake: ['Date'] });
        vi.setSystemTime(Date.now() - 86_400_000);
        await once('expired');
        vi.useRealTimers();
        return good;
      });
      const sorted = made.toSorted((one, other) => (one.digest < other.digest ? -1 : 1));
      const first = await transfer.reservations('', 2);
      const rest = await transfer.reservations(first.at(-1)?.digest ?? '', 2);
      expect([...first, ...rest]).toMatchObject(sorted);
      expect(first).toHaveLength(2);
      for (const { expiresAt } of first) expect(expiresAt).toBeGreaterThan(Date.now() + 86_000_000);
    });

    test('ends a batch of animals with the one that fills it', async () => {
      const large = [1, 2, 3, 4].map((id) => ({ id, name: 'é'.repeat(50_000), categoryId: 1 }));
      await pets().put(large);
      expect((await pets().records(0, 10, 150_000)).map(({ id }) => id)).toEqual([1, 2]);
      expect((await pets().records(2, 10, 1)).map(({ id }) => id)).toEqual([3]);
      expect((await pets().records(0, 3, 1_000_000)).map(({ id }) => id)).toEqual([1, 2, 3]);
    });

    describe('of an idempotency key that is there', () => {
      const put = (expiresAt: number, other: object = {}) => ({
        digest: digest('caller\nkey'),
        fingerprint: print,
        collection: 'animals',
        recordId: 3,
        expiresAt,
        ...other,
      });
      beforeEach(() => pets().put(animals));

      test('keeps the later expiry', async () => {
        const later = put(Date.now() + 60_000);
        await transfer.putReservations([put(Date.now() + 30_000)]);
        await transfer.putReservations([later]);
        await transfer.putReservations([put(Date.now() + 30_000)]);
        expect(await transfer.reservations('', 10)).toEqual([later]);
      });

      test('and has expired takes the one that was made under it since', async () => {
        const later = put(Date.now() + 60_000, { recordId: 7, fingerprint: 'g' });
        await transfer.putReservations([put(Date.now() - 1000)]);
        await transfer.putReservations([later]);
        expect(await transfer.reservations('', 10)).toEqual([later]);
      });

      test.for([{ fingerprint: 'g' }, { recordId: 7 }])(
        'and is good refuses one for another create: %j',
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

    test('a repeat under an idempotency key that was put creates nothing, though its animal was changed or deleted since', async () => {
      const put = (key: string, recordId: number) => ({
        digest: digest(`caller\n${key}`),
        fingerprint: print,
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

    test('a repeat finds the animal by an idempotency key that was put', async () => {
      const [animal] = animals.slice(0, 1);
      const stored = {
        digest: digest('caller\nkey'),
        fingerprint: print,
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
  'an idempotency key whose create failed halfway is not taken along',
  async () => {
    const options = testDatabase();
    const store = await openMongodbStore({
      ...options,
      afterReservation: ({ key }) =>
        key === 'halfway' ? Promise.reject(new Error('crashed')) : Promise.resolve(),
    });
    const once = (key: string) => petsOf(store).createOnce(pet, { caller: 'caller', key });
    await once('whole');
    await expect(once('halfway')).rejects.toMatchObject({ code: 'outcome-unknown' });
    await store.close();
    const transfer = await openMongodbTransfer(options);
    expect(await transfer.reservations('', 10)).toMatchObject([{ digest: digest('caller\nwhole') }]);
    await transfer.close();
    await options.drop();
  },
);

test('a database that is away, and a folder that is not there, are said to be', async () => {
  await expect(
    openMongodbTransfer({ uri: 'mongodb://127.0.0.1:1', operationTimeoutMs: 500 }),
  ).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' });
  await expect(
    openEmbeddedTransfer({ dataDir: join(tmpdir(), 'petstore-nowhere'), create: false }),
  ).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' });
});
