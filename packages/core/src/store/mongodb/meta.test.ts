import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';
import { type Db, MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { animals } from '../../procedures/animals.ts';
import { type CollectionDefinition, defineCollection } from '../collection.ts';
import type { Store } from '../store.ts';
import { openMongodbStore } from './index.ts';

interface TestDb {
  readonly name: string;
  readonly db: Db;
  /** Opens the store until the test ends. @returns the store and the sentences passed to onMigrated */
  readonly open: (
    collections: readonly CollectionDefinition[],
    migrate?: boolean,
    create?: boolean,
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
    async open(collections, migrate, create) {
      const reported: string[] = [];
      const store = await openMongodbStore({
        uri,
        database,
        collections,
        migrate,
        create,
        operationTimeoutMs: 20_000,
        onMigrated: (what) => reported.push(what),
      });
      opened.push(store);
      return { store, reported, name: database };
    },
  };
}

const Category = z.object({ id: z.int(), name: z.string() });
const categories = defineCollection({ name: 'categories', schema: Category, id: 'sequence' });

describe.skipIf(mongodbUri === undefined)('a database', () => {
  test('ready rejects a database of another format with the fix', async () => {
    const { db, open } = await newDatabase();
    await (await open([animals])).store.ready();
    await db.collection('meta').updateOne({}, { $set: { format: 2 } });
    const { store } = await open([animals]);
    await expect(async () => store.ready()).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(
        /^The data in the database .* has format 2, but this version supports format 1\. Start the version that created it, or choose another database\.$/,
      ),
    });
  });

  test.for([true, false])('opening a new database reports no migration with migrate: %s', async (migrate) => {
    const { open } = await newDatabase();
    const { store, reported } = await open([animals], migrate);
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

  test('opening a database without a collection fails with migration-needed if migrate is false', async () => {
    const { open } = await newDatabase();
    await (await open([animals])).store.ready();
    const { store } = await open([animals, categories], false);
    await expect(async () => store.ready()).rejects.toMatchObject({
      code: 'migration-needed',
      message: expect.stringMatching(
        /^The data in the database .* was created by an earlier version\. Start the service, which migrates it\.$/,
      ),
    });
    const { store: same } = await open([animals], false);
    await expect(same.ready()).resolves.toBeUndefined();
  });

  test('a database that was restored without its meta is rejected with the fix, and a start completes it', async () => {
    const { db, open } = await newDatabase();
    const pet = { name: 'Rex', categoryId: 1 };
    await (await open([animals])).store.collection(animals).create(pet);
    await db.collection('meta').drop();
    const { store } = await open([animals], false, false);
    await expect(async () => store.ready()).rejects.toMatchObject({
      code: 'migration-needed',
      message: expect.stringMatching(
        /^The database .* has records but no collection "meta": it was restored in part\. Restore the whole backup\. To continue with what was restored, start the service\.$/,
      ),
    });
    const started = await open([animals], true, false);
    expect(await started.store.collection(animals).get(1)).toMatchObject(pet);
    expect((await started.store.collection(animals).create(pet)).id).toBeGreaterThan(1);
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
