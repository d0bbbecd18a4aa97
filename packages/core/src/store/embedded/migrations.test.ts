import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { Animal, animals, PetStatus } from '../../procedures/animals.ts';
import { type CollectionDefinition, defineCollection } from '../collection.ts';
import type { Store } from '../store.ts';
import { backupFolder, openEmbeddedStore, verifiedTables, verifyFolder } from './index.ts';
import {
  formatOneAnimals,
  formatOneKeys,
  formatOneCreatedAt,
  furtherAnimal,
  createFormatOne,
} from './testing/formatOne.ts';
import { startStoreProcess } from './testing/startStoreProcess.ts';

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  dataDir = join(folder, 'data');
});
afterEach(() => rm(folder, { recursive: true }));

/** Opens the folder until the test ends. @returns the store and the sentences passed to onMigrated */
async function open(collections?: readonly CollectionDefinition[]) {
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
async function verificationErrors(collections?: readonly CollectionDefinition[]): Promise<string[]> {
  const errors: string[] = [];
  await verifyFolder({
    dataDir,
    tables: verifiedTables(collections),
    ...(collections && { collections }),
    onProgress: () => {},
    onTable: (report) => errors.push(...report.errors.map((each) => `${report.table}: ${each}`)),
  });
  return errors;
}

const migrated = () => `Migrated the data in ${dataDir} from format 1 to 2.`;

describe('a data folder of format 1', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: formatOneCreatedAt + 3_600_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('opening a folder of format 1 migrates its animals, indexes, API keys and ids', async () => {
    await createFormatOne(dataDir);
    const { store, reported } = await open();
    expect(reported).toEqual([migrated(), 'Indexed animals by status: 28 records.']);
    expect(await listAll(store)).toEqual(formatOneAnimals);
    for (const status of PetStatus.options) {
      expect(await listAll(store, status)).toEqual(formatOneAnimals.filter((each) => each.status === status));
    }
    expect(await store.keys.list()).toEqual(formatOneKeys);
    expect(await store.keys.addFirst({ hash: 'hash', name: 'third', createdAt: 1 })).toBe(false);
    expect(await store.collection(animals).create({ name: 'Rex', categoryId: 1 })).toMatchObject({ id: 29 });
    expect(await verificationErrors()).toEqual([]);
  });

  test('idempotency keys of format 1 work after the migration', async () => {
    await createFormatOne(dataDir);
    const { store } = await open();
    for (const [index, { id, ...values }] of formatOneAnimals.slice(25).entries()) {
      const reservation = { caller: 'caller', key: `key ${index + 1}` };
      expect(await store.collection(animals).createOnce(values, reservation)).toEqual({
        record: { id, ...values },
        isReplay: true,
      });
      const other = store.collection(animals).createOnce({ ...values, name: 'other' }, reservation);
      await expect(other).rejects.toMatchObject({ code: 'key-reused' });
    }
  });

  test('opening a migrated folder again migrates nothing', async () => {
    await createFormatOne(dataDir);
    await (await open()).store.close();
    expect((await open()).reported).toEqual([]);
  });

  test('a migration of 10,000 animals is complete, and new ids follow', async () => {
    await createFormatOne(dataDir, 10_000);
    const { store } = await open();
    const all = await listAll(store);
    expect(all.slice(0, 28)).toEqual(formatOneAnimals);
    expect(all.slice(28)).toEqual(Array.from({ length: 9_972 }, (_, index) => furtherAnimal(index + 29)));
    const sold = all.filter(({ status }) => status === 'sold');
    expect(await listAll(store, 'sold')).toEqual(sold);
    expect(await store.collection(animals).create({ name: 'Rex', categoryId: 1 })).toMatchObject({
      id: 10_001,
    });
    expect(await verificationErrors()).toEqual([]);
  });

  test('processes that start concurrently migrate a folder once', async () => {
    await createFormatOne(dataDir, 10_000);
    const started = Array.from({ length: 4 }, () => startStoreProcess(['create', dataDir, '3']));
    const created = await Promise.all(started.map((each) => each.rest()));
    const ids = created.flatMap(({ results }) =>
      z
        .array(Animal)
        .parse(results[0])
        .map(({ id }) => id),
    );
    expect(ids.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 12 }, (_, index) => 10_001 + index),
    );
    expect(await verificationErrors()).toEqual([]);
  });

  test('the next start completes a migration that was ended by SIGKILL', async () => {
    await createFormatOne(dataDir, 10_000);
    for (const rows of ['1', '28', '5000', '10000']) {
      const { signal } = await startStoreProcess(['dieMigrating', dataDir, rows]).rest();
      expect(signal).toBe('SIGKILL');
    }
    const { store, reported } = await open();
    expect(reported).toEqual([migrated(), 'Indexed animals by status: 10000 records.']);
    expect(await listAll(store)).toHaveLength(10_000);
    expect(await listAll(store, 'sold')).toHaveLength(2_500);
    expect(await verificationErrors()).toEqual([]);
  });

  test('opening a folder of format 1 with migrate: false fails with migration-needed and changes nothing', async () => {
    await createFormatOne(dataDir);
    await expect(openEmbeddedStore({ dataDir, migrate: false })).rejects.toMatchObject({
      code: 'migration-needed',
      message: `The data in ${dataDir} was created by an earlier version. Start the service, which migrates it.`,
    });
    expect((await open()).reported).toContain(migrated());
  });

  test('backupFolder copies a folder of format 1 without migrating it', async () => {
    await createFormatOne(dataDir);
    const to = join(folder, 'backup');
    expect(await backupFolder({ dataDir, to })).toMatchObject({
      collections: [{ name: 'animals', recordName: 'animal', records: 28 }],
      keys: 2,
    });
    dataDir = to;
    const { store, reported } = await open();
    expect(reported).toContain(migrated());
    expect(await listAll(store)).toEqual(formatOneAnimals);
  });
});

const Category = z.object({ id: z.int(), name: z.string(), kind: z.string().exactOptional() });
const categories = defineCollection({ name: 'categories', schema: Category, id: 'sequence' });

describe('a data folder with other collections than the code', () => {
  test('opening a folder adds a missing collection and reports it', async () => {
    await (await open()).store.close();
    const { store, reported } = await open([animals, categories]);
    expect(reported).toEqual([`Added the collection categories to the data in ${dataDir}.`]);
    expect(await store.collection(categories).create({ name: 'Dogs' })).toEqual({ id: 1, name: 'Dogs' });
    expect(await verificationErrors([animals, categories])).toEqual([]);
  });

  test('opening a folder fails if it has an unknown collection, and keeps the collection', async () => {
    const { store } = await open([animals, categories]);
    const dogs = await store.collection(categories).create({ name: 'Dogs' });
    await store.close();
    await expect(open()).rejects.toMatchObject({
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
});
