import { readFile } from 'node:fs/promises';
import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';
import { BSON, type Db, Long, MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { type Animal, animals, PetStatus } from '../../procedures/animals.ts';
import { type CollectionDefinition, defineCollection } from '../collection.ts';
import { formatOneAnimals, formatOneKeys, formatOneCreatedAt } from '../embedded/testing/formatOne.ts';
import type { Store } from '../store.ts';
import { openMongodbStore } from './index.ts';

interface TestDb {
  readonly name: string;
  readonly db: Db;
  /** Opens the store until the test ends. @returns the store and the sentences passed to onMigrated */
  readonly open: (
    collections?: readonly CollectionDefinition[],
    migrate?: boolean,
  ) => Promise<{ readonly store: Store; readonly reported: string[]; readonly name: string }>;
}

async function newDatabase(): Promise<TestDb> {
  const { uri, database, drop } = testDatabase();
  const client = new MongoClient(uri);
  const opened: Store[] = [];
  onTestFinished(async () => {
    for (const store of opened) await store.close();
    await client.close();
    await drop();
  });
  return {
    name: database,
    db: client.db(database),
    async open(collections, migrate) {
      const reported: string[] = [];
      const store = await openMongodbStore({
        uri,
        database,
        collections,
        migrate,
        operationTimeoutMs: 20_000,
        onMigrated: (what) => reported.push(what),
      });
      opened.push(store);
      return { store, reported, name: database };
    },
  };
}

/**
 * Fills a database with data of version 1.0.0. Its idempotency keys expire later: the server removes expired ones once a
 * minute, by its own clock.
 */
async function fillFormatOne(db: Db): Promise<void> {
  const fixture = await readFile(new URL('testing/fixtures/format1.json', import.meta.url), 'utf8');
  const collections = BSON.EJSON.parse(fixture, { relaxed: false }) as Record<string, object[]>;
  for (const key of collections['reservations'] ?? [])
    Object.assign(key, { expiresAt: new Date('2999-01-01') });
  for (const [name, documents] of Object.entries(collections)) {
    await db.collection(name).insertMany(documents);
  }
  await db.collection('animals').createIndex({ status: 1, _id: 1 });
}

async function listAll(store: Store): Promise<Animal[]> {
  const all: Animal[] = [];
  for (;;) {
    const { records, hasNext } = await store.collection(animals).list({ limit: 100, cursor: all.at(-1)?.id });
    all.push(...records);
    if (!hasNext) return all;
  }
}

const once = (store: Store, key: number, change: Partial<Animal> = {}) => {
  const { id: _id, ...values } = { ...formatOneAnimals[24 + key], ...change } as Animal;
  return store.collection(animals).createOnce(values, { caller: 'caller', key: `key ${key}` });
};

// The fields of format 1 with one more. Not `Animal`, whose own later fields would be further ones.
const animalsWithKennel = defineCollection({
  name: 'animals',
  schema: z.object({
    kennel: z.int().exactOptional(),
    id: z.int(),
    name: z.string(),
    categoryId: z.int(),
    status: PetStatus.exactOptional(),
  }),
  id: 'sequence',
  indexes: ['status', 'kennel'],
});

async function checkMigrated(store: Store): Promise<void> {
  await store.ready();
  expect(await listAll(store)).toEqual(formatOneAnimals);
  expect(await store.keys.list()).toEqual(formatOneKeys);
  // The earlier version had leased 64 ids.
  expect(await store.collection(animals).create({ name: 'Rex', categoryId: 1 })).toMatchObject({ id: 65 });
  for (const key of [1, 2, 3]) {
    expect(await once(store, key)).toEqual({ record: formatOneAnimals[24 + key], isReplay: true });
    await expect(once(store, key, { name: 'other' })).rejects.toMatchObject({ code: 'key-reused' });
  }
}

describe.skipIf(mongodbUri === undefined)('a database of format 1', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: formatOneCreatedAt + 3_600_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('opening a database of format 1 migrates its animals, API keys, idempotency keys and ids', async () => {
    const { db, open, name } = await newDatabase();
    await fillFormatOne(db);
    const { store, reported } = await open();
    await checkMigrated(store);
    expect(reported).toEqual([
      expect.stringMatching(`^Migrated the data in the database ${name} at .* from format 1 to 2\\.$`),
    ]);
    const again = await open();
    await again.store.ready();
    expect(again.reported).toEqual([]);
  });

  test('animals and idempotency keys of format 1 stay valid in a version with a further optional field', async () => {
    const { db, open } = await newDatabase();
    await fillFormatOne(db);
    const { store } = await open([animalsWithKennel]);
    const pets = store.collection(animalsWithKennel);
    await store.ready();
    expect((await pets.list({ limit: 100 })).records).toEqual(formatOneAnimals);
    for (const [index, { id, ...values }] of formatOneAnimals.slice(25).entries()) {
      const reservation = { caller: 'caller', key: `key ${index + 1}` };
      expect(await pets.createOnce(values, reservation)).toEqual({
        record: { id, ...values },
        isReplay: true,
      });
      const other = pets.createOnce({ ...values, kennel: 1 }, reservation);
      await expect(other).rejects.toMatchObject({ code: 'key-reused' });
    }
    const created = await pets.create({ name: 'Rex', categoryId: 1, kennel: 1 });
    expect(await pets.list({ limit: 9, where: { kennel: 1 } })).toMatchObject({ records: [created] });
  });

  test('stores that open a database concurrently migrate it', async () => {
    const { db, open } = await newDatabase();
    await fillFormatOne(db);
    const opened = await Promise.all(Array.from({ length: 5 }, () => open()));
    // Concurrent writes may deadlock (PostgreSQL below FerretDB). Then the store retries, as on every start.
    await Promise.all(
      opened.map(async ({ store }) => vi.waitFor(() => store.ready(), { timeout: 10_000, interval: 50 })),
    );
    const checked = opened.slice(0, 1).map(({ store }) => checkMigrated(store));
    await expect(Promise.all(checked)).resolves.toHaveLength(1);
  });

  test('the next start completes an interrupted migration', async () => {
    const { db, open } = await newDatabase();
    await fillFormatOne(db);
    const counter = { _id: 'animals', last: Long.fromNumber(64) };
    await db.collection<typeof counter>('counters').insertOne(counter);
    const reservations = db.collection<{ _id: string; [field: string]: unknown }>('reservations');
    for (const { animalId, ...rest } of await reservations.find().limit(1).toArray()) {
      await reservations.replaceOne(
        { _id: rest._id },
        { ...rest, collection: 'animals', recordId: animalId },
      );
    }
    const { store } = await open();
    await expect(checkMigrated(store)).resolves.toBeUndefined();
  });

  test('a migration of 10,000 animals and 3,000 idempotency keys is complete, and new ids follow', async () => {
    const { db, open } = await newDatabase();
    await fillFormatOne(db);
    const further = Array.from({ length: 9_936 }, (_, index) => ({
      _id: Long.fromNumber(index + 65),
      name: `further animal ${index + 65}`,
      categoryId: Long.fromNumber(1),
    }));
    await db.collection<{ _id: Long }>('animals').insertMany(further);
    const keys = Array.from({ length: 3_000 }, (_, index) => ({
      _id: index.toString(16).padStart(64, '0'),
      fingerprint: 'f',
      animalId: Long.fromNumber(1),
      expiresAt: new Date(formatOneCreatedAt + 86_400_000),
    }));
    await db.collection<{ _id: string }>('reservations').insertMany(keys);
    await db.collection('counters').updateOne({}, { $set: { last: Long.fromNumber(10_048) } });
    const { store } = await open();
    await store.ready();
    expect(await listAll(store)).toHaveLength(28 + 9_936);
    expect(await db.collection('reservations').countDocuments({ animalId: { $exists: true } })).toBe(0);
    expect(await db.collection('reservations').countDocuments({ collection: 'animals' })).toBe(3_003);
    expect(await store.collection(animals).create({ name: 'Rex', categoryId: 1 })).toMatchObject({
      id: 10_049,
    });
  });

  test('opening a database of format 1 with migrate: false fails with migration-needed and changes nothing', async () => {
    const { db, open } = await newDatabase();
    await fillFormatOne(db);
    const { store } = await open(undefined, false);
    await expect(async () => store.ready()).rejects.toMatchObject({
      code: 'migration-needed',
      message: expect.stringMatching(
        /^The data in the database .* was created by an earlier version\. Start the service, which migrates it\.$/,
      ),
    });
    expect(await db.collection('counters').findOne({})).toMatchObject({ _id: 'lastAnimalId' });
  });
});

const Category = z.object({ id: z.int(), name: z.string() });
const categories = defineCollection({ name: 'categories', schema: Category, id: 'sequence' });

describe.skipIf(mongodbUri === undefined)('a database', () => {
  test('ready rejects a database of a newer format with the fix', async () => {
    const { db, open } = await newDatabase();
    await (await open()).store.ready();
    await db.collection('meta').updateOne({}, { $set: { format: 3 } });
    const { store } = await open();
    await expect(async () => store.ready()).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(
        /^The data in the database .* has format 3, but this version supports formats up to 2\. Start a newer version, or choose another database\.$/,
      ),
    });
  });

  test.for([true, false])('opening a new database reports no migration with migrate: %s', async (migrate) => {
    const { open } = await newDatabase();
    const { store, reported } = await open(undefined, migrate);
    await store.ready();
    expect(reported).toEqual([]);
  });

  test('opening a database adds a missing collection and reports it', async () => {
    const { open } = await newDatabase();
    await (await open([animals])).store.ready();
    const { store, reported } = await open([animals, categories]);
    await store.ready();
    expect(reported).toEqual([
      expect.stringMatching(/^Added the collection categories to the database .*\.$/),
    ]);
    expect(await store.collection(categories).create({ name: 'Dogs' })).toEqual({ id: 1, name: 'Dogs' });
  });

  test('ready rejects a database with an unknown collection, which is kept', async () => {
    const { open } = await newDatabase();
    const { store } = await open([animals, categories]);
    const dogs = await store.collection(categories).create({ name: 'Dogs' });
    const other = await open([animals]);
    await expect(async () => other.store.ready()).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringContaining('has a collection "categories" that this version does not know'),
    });
    expect(await store.collection(categories).get(1)).toEqual(dogs);
  });
});
