import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { Animal, animals } from '@petstore/core';
import { type CollectionDefinition, defineCollection } from '@petstore/core/store';
import { backupFolder, openEmbeddedStore } from './index.ts';
import { runStoreProcess } from './testing/runStoreProcess.ts';
import { reportsOf, verificationErrors } from './testing/verificationErrors.ts';

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder, 'data');
});

/** Opens the folder until the test ends. @returns the store and the sentences passed to onMigrated */
async function open(collections: readonly CollectionDefinition[]) {
  const reported: string[] = [];
  const store = await openEmbeddedStore({
    dataDir,
    collections,
    onMigrated: (what) => reported.push(what),
  });
  onTestFinished(() => store.close());
  return { store, reported };
}

const none = new Map();

const Category = z.object({ id: z.int(), name: z.string(), kind: z.string().exactOptional() });
const categories = defineCollection({ name: 'categories', schema: Category, id: 'sequence' });

const categoriesWith = (
  indexes: readonly ('kind' | 'name' | { readonly field: 'name'; readonly unique: true })[],
) => defineCollection({ name: 'categories', schema: Category, id: 'sequence', indexes });

const withoutIndex = defineCollection({ name: 'animals', schema: Animal, id: 'sequence' });

/** Creates a folder with 2,000 animals, of which 500 are sold, without an index of the status. */
async function createWithoutIndex(): Promise<void> {
  const store = await openEmbeddedStore({ dataDir, collections: [withoutIndex] });
  await Promise.all(
    Array.from({ length: 2_000 }, async (_, index) =>
      store
        .collection(withoutIndex)
        .create({ name: `animal ${index}`, categoryId: 1, ...(index % 4 === 0 && { status: 'sold' }) }),
    ),
  );
  await store.close();
}

describe('a data folder without an index', () => {
  beforeEach(createWithoutIndex);

  test('processes that start concurrently build the index once, and create animals under new ids', async () => {
    const started = Array.from({ length: 4 }, () => runStoreProcess(['create', dataDir, '3']));
    const created = await Promise.all(started);
    const ids = created.flatMap(({ results }) =>
      z
        .array(Animal)
        .parse(results[0])
        .map(({ id }) => id),
    );
    expect(ids.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 12 }, (_, index) => 2_001 + index),
    );
    expect(await verificationErrors(dataDir, [animals])).toEqual(none);
  });

  test('the next start builds an index whose building was ended by SIGKILL', async () => {
    for (const rows of ['1', '1000', '2000']) {
      const { signal } = await runStoreProcess(['dieIndexing', dataDir, rows]);
      expect(signal).toBe('SIGKILL');
    }
    const { store, reported } = await open([animals]);
    expect(reported).toEqual(['Indexed animals by status: 2000 records.']);
    const pets = store.collection(animals);
    expect((await pets.list({ limit: 9_000 })).records).toHaveLength(2_000);
    expect((await pets.list({ limit: 9_000, where: { status: 'sold' } })).records).toHaveLength(500);
    expect(await verificationErrors(dataDir, [animals])).toEqual(none);
  });

  test('opening the folder with migrate: false fails with migration-needed and changes nothing, nor does a backup', async () => {
    await expect(
      openEmbeddedStore({ dataDir, collections: [animals], migrate: false }),
    ).rejects.toMatchObject({
      code: 'migration-needed',
      message: `The data in ${dataDir} was created by an earlier version. Start the service, which migrates it.`,
    });
    const to = join(folder, 'backup');
    expect(await backupFolder({ dataDir, to })).toMatchObject({
      collections: [{ name: 'animals', recordName: 'animal', records: 2_000 }],
    });
    for (const each of [dataDir, to]) {
      dataDir = each;
      expect((await open([animals])).reported).toEqual(['Indexed animals by status: 2000 records.']);
    }
  });

  test('a damaged row is not indexed, reading it fails, and verifyFolder reports it', async () => {
    const file = join(dataDir, 'petstore.mdb');
    const bytes = await readFile(file);
    for (let at = bytes.indexOf('"animal 12"'); at !== -1; at = bytes.indexOf('"animal 12"', at + 1))
      bytes[at + 1] = 0;
    await writeFile(file, bytes);
    const { store, reported } = await open([animals]);
    expect(reported).toEqual(['Indexed animals by status: 1999 records.']);
    expect(() => store.collection(animals).get(13)).toThrow('the record of animal 13 is invalid');
    const errors = new Map([['animals', ['the record of animal 13 is invalid']]]);
    expect(await verificationErrors(dataDir, [animals])).toEqual(errors);
  });
});

describe('a data folder with other collections than the code', () => {
  test('backupFolder copies a collection that this version does not know', async () => {
    const { store } = await open([animals, categories]);
    await store.collection(categories).create({ name: 'Dogs' });
    await store.close();
    expect(await backupFolder({ dataDir, to: join(folder, 'backup') })).toMatchObject({
      collections: [{ records: 0 }, { name: 'categories', recordName: 'category', records: 1 }],
    });
  });

  test('opening a folder builds a missing index from the stored records', async () => {
    const { store } = await open([animals, categories]);
    const dogs = await store.collection(categories).create({ name: 'Dogs', kind: 'pet' });
    await store.collection(categories).create({ name: 'Lions' });
    await store.close();
    const indexed = categoriesWith(['kind', 'name']);
    const again = await open([animals, indexed]);
    expect(again.reported).toEqual([
      'Indexed categories by kind: 2 records.',
      'Indexed categories by name: 2 records.',
    ]);
    await again.store.close();

    // Opened without the index, then with it: the index contains records that were stored in between.
    const without = await open([animals, categories]);
    const cats = await without.store.collection(categories).create({ name: 'Cats', kind: 'pet' });
    await without.store.close();
    const last = await open([animals, indexed]);
    const pets = await last.store.collection(indexed).list({ limit: 10, where: { kind: 'pet' } });
    expect(pets.records).toEqual([dogs, cats]);
    expect(await verificationErrors(dataDir, [animals, indexed])).toEqual(none);
  });

  test.for([
    ['a new index can be unique', categories, 'category 1 and 3 have the same value.'],
    ['an index can become unique', categoriesWith(['name']), 'category 3 and 1 have'],
  ] as const)('%s only if no two records have the same value', async ([, plain, error]) => {
    const { store } = await open([plain]);
    const [dogs, cats, twice] = [
      await store.collection(plain).create({ name: 'Dogs' }),
      await store.collection(plain).create({ name: 'Cats' }),
      await store.collection(plain).create({ name: 'Dogs' }),
    ];
    await store.close();
    const unique = categoriesWith([{ field: 'name', unique: true }]);
    await expect(open([unique])).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(error),
    });

    const before = await open([plain]);
    expect((await before.store.collection(plain).list({ limit: 10 })).records).toEqual([dogs, cats, twice]);
    await before.store.collection(plain).delete(twice.id);
    await before.store.close();
    const { store: later, reported } = await open([unique]);
    expect(reported).toEqual(['Indexed categories by name: 2 records.']);
    const found = await later.collection(unique).list({ limit: 9, where: { name: 'Dogs' } });
    expect(found.records).toEqual([dogs]);
    const taken = later.collection(unique).create({ name: 'Dogs' });
    await expect(taken).rejects.toMatchObject({ code: 'conflict' });
    expect(await verificationErrors(dataDir, [unique])).toEqual(none);
  });

  test('a record that the schema of this version rejects is not indexed, and not called damaged', async () => {
    const { store } = await open([animals, categories]);
    const dogs = await store.collection(categories).create({ name: 'Dogs', kind: 'pet' });
    await store.close();
    const schema = Category.extend({ kind: z.literal('wild').exactOptional() });
    const options = { name: 'categories', schema, id: 'sequence' } as const;
    const stricter = defineCollection({ ...options, indexes: ['name'] });
    await expect(open([animals, stricter])).rejects.toMatchObject({
      code: 'incompatible',
      message: expect.stringContaining('The category 1 in the data folder'),
    });
    const reports = await reportsOf(dataDir, [animals, defineCollection(options)]);
    const error =
      /^category 1: the schema of categories in this version rejects it \(kind: Invalid input.*\)$/;
    const errors = [expect.stringMatching(error)];
    expect(reports.filter(({ errorCount }) => errorCount > 0)).toEqual([
      { table: 'categories', entries: 1, errors, errorCount: 1, isDamaged: false },
    ]);
    expect(await (await open([animals, categories])).store.collection(categories).get(1)).toEqual(dogs);
  });
});
