import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { Animal, animals, type PetStatus } from '@petstore/core';
import { type CollectionDefinition, defineCollection, type Store } from '@petstore/core/store';
import { backupFolder, openEmbeddedStore, type TableReport, verifiedTables, verifyFolder } from './index.ts';
import { startStoreProcess } from './testing/startStoreProcess.ts';

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  dataDir = join(folder, 'data');
});
afterEach(() => rm(folder, { recursive: true }));

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

async function listAll(store: Store, status?: PetStatus): Promise<Animal[]> {
  const all: Animal[] = [];
  for (;;) {
    const { records, hasNext } = await store
      .collection(animals)
      .list({ limit: 100, where: { status }, cursor: all.at(-1)?.id });
    all.push(...records);
    if (!hasNext) return all;
  }
}

/** Returns all errors that a verification reports. */
async function verificationErrors(collections: readonly CollectionDefinition[]): Promise<string[]> {
  const errors: string[] = [];
  await verifyFolder({
    dataDir,
    tables: verifiedTables(collections),
    collections,
    onProgress: () => {},
    onTable: (report) => errors.push(...report.errors.map((each) => `${report.table}: ${each}`)),
  });
  return errors;
}

const Category = z.object({ id: z.int(), name: z.string(), kind: z.string().exactOptional() });
const categories = defineCollection({ name: 'categories', schema: Category, id: 'sequence' });

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
    const started = Array.from({ length: 4 }, () => startStoreProcess(['create', dataDir, '3']));
    const created = await Promise.all(started.map((each) => each.rest()));
    const ids = created.flatMap(({ results }) =>
      z
        .array(Animal)
        .parse(results[0])
        .map(({ id }) => id),
    );
    expect(ids.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 12 }, (_, index) => 2_001 + index),
    );
    expect(await verificationErrors([animals])).toEqual([]);
  });

  test('the next start builds an index whose building was ended by SIGKILL', async () => {
    for (const rows of ['1', '1000', '2000']) {
      const { signal } = await startStoreProcess(['dieIndexing', dataDir, rows]).rest();
      expect(signal).toBe('SIGKILL');
    }
    const { store, reported } = await open([animals]);
    expect(reported).toEqual(['Indexed animals by status: 2000 records.']);
    expect(await listAll(store)).toHaveLength(2_000);
    expect(await listAll(store, 'sold')).toHaveLength(500);
    expect(await verificationErrors([animals])).toEqual([]);
  });

  test('opening the folder with migrate: false fails with migration-needed and changes nothing', async () => {
    await expect(
      openEmbeddedStore({ dataDir, collections: [animals], migrate: false }),
    ).rejects.toMatchObject({
      code: 'migration-needed',
      message: `The data in ${dataDir} was created by an earlier version. Start the service, which migrates it.`,
    });
    expect((await open([animals])).reported).toEqual(['Indexed animals by status: 2000 records.']);
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
    expect(await verificationErrors([animals])).toEqual(['animals: the record of animal 13 is invalid']);
  });

  test('backupFolder copies the folder without building the index', async () => {
    const to = join(folder, 'backup');
    expect(await backupFolder({ dataDir, to })).toMatchObject({
      collections: [{ name: 'animals', recordName: 'animal', records: 2_000 }],
    });
    dataDir = to;
    expect((await open([animals])).reported).toEqual(['Indexed animals by status: 2000 records.']);
  });
});

describe('a data folder with other collections than the code', () => {
  test('opening a folder adds a missing collection and reports it', async () => {
    await (await open([animals])).store.close();
    const { store, reported } = await open([animals, categories]);
    expect(reported).toEqual([`Added the collection categories to the data in ${dataDir}.`]);
    expect(await store.collection(categories).create({ name: 'Dogs' })).toEqual({ id: 1, name: 'Dogs' });
    expect(await verificationErrors([animals, categories])).toEqual([]);
  });

  test('opening a folder fails if it has an unknown collection, and keeps the collection', async () => {
    const { store } = await open([animals, categories]);
    const dogs = await store.collection(categories).create({ name: 'Dogs' });
    await store.close();
    await expect(open([animals])).rejects.toMatchObject({
      code: 'damaged',
      message: `The data in ${dataDir} has a collection "categories" that this version does not know. Start the version that created it, or choose another folder.`,
    });
    const again = await open([animals, categories]);
    expect(await again.store.collection(categories).get(1)).toEqual(dogs);
  });

  test('backupFolder copies an unknown collection', async () => {
    const { store } = await open([animals, categories]);
    await store.collection(categories).create({ name: 'Dogs' });
    const to = join(folder, 'backup');
    expect(await backupFolder({ dataDir, to })).toMatchObject({
      collections: [{ records: 0 }, { name: 'categories', recordName: 'category', records: 1 }],
    });
  });

  test('opening a folder builds a missing index from the stored records', async () => {
    const { store } = await open([animals, categories]);
    const dogs = await store.collection(categories).create({ name: 'Dogs', kind: 'pet' });
    await store.collection(categories).create({ name: 'Lions' });
    await store.close();
    const indexed = defineCollection({
      name: 'categories',
      schema: Category,
      id: 'sequence',
      indexes: ['kind', { field: 'name', unique: true }],
    });
    const again = await open([animals, indexed]);
    expect(again.reported).toEqual([
      'Indexed categories by kind: 2 records.',
      'Indexed categories by name: 2 records.',
    ]);
    const records = again.store.collection(indexed);
    expect(await records.list({ limit: 10, where: { kind: 'pet' } })).toMatchObject({ records: [dogs] });
    await expect(records.create({ name: 'Dogs' })).rejects.toMatchObject({ code: 'conflict' });
    await again.store.close();

    // Opened without the index, then with it: the index contains records that were stored in between.
    const without = await open([animals, categories]);
    const cats = await without.store.collection(categories).create({ name: 'Cats', kind: 'pet' });
    await without.store.close();
    const last = await open([animals, indexed]);
    const pets = await last.store.collection(indexed).list({ limit: 10, where: { kind: 'pet' } });
    expect(pets.records).toEqual([dogs, cats]);
    expect(await verificationErrors([animals, indexed])).toEqual([]);
  });

  test('opening a folder fails if a new unique index would have duplicates, and changes nothing', async () => {
    const { store } = await open([animals, categories]);
    for (const name of ['Dogs', 'Cats', 'Dogs']) await store.collection(categories).create({ name });
    await store.close();
    const unique = defineCollection({
      name: 'categories',
      schema: Category,
      id: 'sequence',
      indexes: [{ field: 'name', unique: true }],
    });
    await expect(open([animals, unique])).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('category 1 and 3 have the same value.'),
    });
    const again = await open([animals, categories]);
    expect((await again.store.collection(categories).list({ limit: 10 })).records).toHaveLength(3);
  });

  test('an index can become unique if no two records have the same value', async () => {
    const options = { name: 'categories', schema: Category, id: 'sequence' } as const;
    const plain = defineCollection({ ...options, indexes: ['name'] });
    const unique = defineCollection({ ...options, indexes: [{ field: 'name', unique: true }] });
    const { store } = await open([plain]);
    const dogs = await store.collection(plain).create({ name: 'Dogs' });
    const { id } = await store.collection(plain).create({ name: 'Dogs' });
    await store.close();
    await expect(open([unique])).rejects.toMatchObject({ code: 'conflict' });

    const before = await open([plain]);
    await before.store.collection(plain).delete(id);
    await before.store.close();
    const { store: later, reported } = await open([unique]);
    expect(reported).toEqual(['Indexed categories by name: 1 records.']);
    expect(await later.collection(unique).list({ limit: 9, where: { name: 'Dogs' } })).toMatchObject({
      records: [dogs],
    });
    await expect(later.collection(unique).create({ name: 'Dogs' })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await verificationErrors([unique])).toEqual([]);
  });

  test('opening a folder fails if a new index has a record that the schema rejects, and changes nothing', async () => {
    const { store } = await open([animals, categories]);
    const dogs = await store.collection(categories).create({ name: 'Dogs', kind: 'pet' });
    await store.close();
    const schema = Category.extend({ kind: z.literal('wild').exactOptional() });
    const stricter = defineCollection({ name: 'categories', schema, id: 'sequence', indexes: ['name'] });
    await expect(open([animals, stricter])).rejects.toMatchObject({
      code: 'incompatible',
      message: expect.stringContaining('The category 1 in the data folder'),
    });
    expect(await (await open([animals, categories])).store.collection(categories).get(1)).toEqual(dogs);
  });

  test('verifyFolder does not call a record damaged that the schema of this version rejects', async () => {
    const { store } = await open([animals, categories]);
    await store.collection(categories).create({ name: 'Dogs', kind: 'pet' });
    await store.close();
    const schema = Category.extend({ kind: z.literal('wild').exactOptional() });
    const stricter = defineCollection({ name: 'categories', schema, id: 'sequence' });
    const reports: TableReport[] = [];
    await verifyFolder({
      dataDir,
      tables: verifiedTables([animals, stricter]),
      collections: [animals, stricter],
      onProgress: () => {},
      onTable: (report) => reports.push(report),
    });
    expect(reports.filter(({ errorCount }) => errorCount > 0)).toEqual([
      {
        table: 'categories',
        entries: 1,
        errors: [
          expect.stringMatching(
            /^category 1: the schema of categories in this version rejects it \(kind: Invalid input.*\)$/,
          ),
        ],
        errorCount: 1,
        isDamaged: false,
      },
    ]);
  });
});
