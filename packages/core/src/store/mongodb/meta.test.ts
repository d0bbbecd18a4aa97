import { mongodbUri } from '@petstore/testing/mongodb';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { animals } from '../../procedures/animals.ts';
import { type CollectionDefinition, defineCollection } from '../collection.ts';
import { proxiedDatabase } from './testing/proxiedDatabase.ts';

async function newDatabase() {
  const { connect, open } = await proxiedDatabase();
  return {
    db: connect(),
    /** Opens the store until the test ends. @returns the store and the sentences passed to onMigrated */
    open: async (collections: readonly CollectionDefinition[], migrate?: boolean) => {
      const reported: string[] = [];
      const onMigrated = (what: string) => void reported.push(what);
      return { store: await open({ collections, migrate, onMigrated }), reported };
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
