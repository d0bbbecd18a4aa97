import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, open as openLmdb } from 'lmdb';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { Animal, animals, PetStatus } from '../../procedures/animals.ts';
import { type CollectionDefinition, defineCollection } from '../collection.ts';
import type { Created, Store } from '../store.ts';
import { backupFolder, openEmbeddedStore, type TableReport, verifiedTables, verifyFolder } from './index.ts';
import { jsonRow } from './rows.ts';
import { openTable } from './table.ts';
import {
  formatOneAnimals,
  formatOneKeys,
  formatOneCreatedAt,
  furtherAnimal,
  createFormatOne,
} from './testing/formatOne.ts';
import { createFormatTwo, formatTwoAnimals, formatTwoCreates } from './testing/formatTwo.ts';
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

const migrated = (from: number) => `Migrated the data in ${dataDir} from format ${from} to ${from + 1}.`;

/** The sentences of a migration from format 1. Collections and indexes that are newer than the folder add further ones. */
const reportedFromOne = (count: number) =>
  expect.arrayContaining([migrated(1), migrated(2), `Indexed animals by status: ${count} records.`]);

/** Uses the keys of creates for other inputs, then retries the creates. */
async function retry(
  store: Store,
  definition: CollectionDefinition<Animal>,
  created: readonly Animal[],
): Promise<Created<Animal>[]> {
  const replays: Created<Animal>[] = [];
  const pets = store.collection(definition);
  for (const [index, { id: _id, ...values }] of created.entries()) {
    const reservation = { caller: 'caller', key: `key ${index + 1}` };
    for (const other of [
      { name: 'other' },
      { categoryId: 0 },
      { status: values.status ? undefined : 'sold' },
    ]) {
      const changed = pets.createOnce({ ...values, ...other } as Animal, reservation);
      await expect(changed).rejects.toMatchObject({ code: 'key-reused' });
    }
    replays.push(await pets.createOnce(values, reservation));
  }
  return replays;
}

const replaysOf = (created: readonly Animal[]) => created.map((record) => ({ record, isReplay: true }));

const Category = z.object({ id: z.int(), name: z.string(), kind: z.string().exactOptional() });
const categories = defineCollection({ name: 'categories', schema: Category, id: 'sequence' });

// The fields of format 2 with two more. Not `Animal`, whose own later fields would be further ones.
const animalsWithMore = defineCollection({
  name: 'animals',
  schema: z.object({
    kennel: z.int().exactOptional(),
    id: z.int(),
    name: z.string(),
    categoryId: z.int(),
    status: PetStatus.exactOptional(),
    note: z.string().nullable().exactOptional(),
  }),
  id: 'sequence',
  indexes: ['status', 'kennel'],
});

describe('a data folder of format 2', () => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: formatOneCreatedAt + 3_600_000 });
    await createFormatTwo(dataDir);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('opening a folder of format 2 migrates its animals, and keeps indexes, API keys and ids', async () => {
    const { store, reported } = await open();
    expect(reported[0]).toBe(migrated(2));
    expect(await listAll(store)).toEqual(formatTwoAnimals);
    for (const status of PetStatus.options) {
      expect(await listAll(store, status)).toEqual(formatTwoAnimals.filter((each) => each.status === status));
    }
    expect(await store.keys.list()).toEqual(formatOneKeys);
    expect(await store.collection(animals).create({ name: 'Rex', categoryId: 1 })).toMatchObject({ id: 31 });
    expect(await verificationErrors()).toEqual([]);
    await store.close();
    expect((await open()).reported).toEqual([]);
  });

  test('idempotency keys of format 2 work after the migration, also those of changed and deleted animals', async () => {
    const replays = await retry((await open()).store, animals, formatTwoCreates);
    expect(replays).toEqual(replaysOf(formatTwoCreates));
  });

  test('animals and idempotency keys of format 2 stay valid in a version with further optional fields', async () => {
    const later = [animalsWithMore];
    const { store, reported } = await open(later);
    expect(reported).toContain('Indexed animals by kennel: 29 records.');
    const replays = await retry(store, animalsWithMore, formatTwoCreates);
    expect(replays).toEqual(replaysOf(formatTwoCreates));
    const pets = store.collection(animalsWithMore);
    expect((await pets.list({ limit: 100 })).records).toEqual(formatTwoAnimals);
    const created = await pets.create({ name: 'Rex', categoryId: 1, kennel: 7, note: null });
    await store.close();
    expect(await verificationErrors(later)).toEqual([]);
    const to = join(folder, 'backup');
    await backupFolder({ dataDir, to });
    dataDir = to;
    const backup = (await open(later)).store.collection(animalsWithMore);
    expect(await backup.list({ limit: 9, where: { kennel: 7 } })).toEqual({
      records: [created],
      hasNext: false,
    });
    expect(await verificationErrors(later)).toEqual([]);
  });

  test('a running process of format 2 cannot create animals after the migration, because their counter is gone', async () => {
    await (await open()).store.close();
    expect(await readMeta('animals.lastId')).toBeUndefined();
    expect(await readMeta('animals.lastRecordId')).toBe(30);
  });

  test('opening a folder of format 2 keeps animals that are JSON already, of another service', async () => {
    dataDir = join(folder, 'other');
    const { store } = await open([animalsWithMore, categories]);
    const animal = await store
      .collection(animalsWithMore)
      .create({ name: '\u0000', categoryId: 1, note: 'x' });
    const dogs = await store.collection(categories).create({ name: 'Dogs' });
    await store.close();
    await asFormatTwo(['animals', 'categories']);
    const again = await open([animalsWithMore, categories]);
    expect(again.reported).toEqual([migrated(2)]);
    expect(await again.store.collection(animalsWithMore).get(1)).toEqual(animal);
    expect(await again.store.collection(categories).get(1)).toEqual(dogs);
    expect(await again.store.collection(categories).create({ name: 'Cats' })).toMatchObject({ id: 2 });
  });

  test('the migration keeps a damaged row, and verifyFolder reports it', async () => {
    const file = join(dataDir, 'petstore.mdb');
    const bytes = await readFile(file);
    for (let at = bytes.indexOf('animal 12'); at !== -1; at = bytes.indexOf('animal 12', at + 1))
      bytes[at] = 0;
    await writeFile(file, bytes);
    const { store } = await open();
    expect(() => store.collection(animals).get(12)).toThrow('the record of animal 12 is invalid');
    expect(await store.collection(animals).get(13)).toEqual(formatTwoAnimals[12]);
    expect(await verificationErrors()).toEqual(['animals: the record of animal 12 is invalid']);
  });
});

/** Opens the table of counters without the store. */
async function useMeta<T>(use: (meta: Database<number | null, string>) => T): Promise<T> {
  const root = openLmdb({ path: join(dataDir, 'petstore.mdb'), noSubdir: true, overlappingSync: false });
  const meta = openTable<number | null, string>(root, 'meta', { encoder: jsonRow<number>() });
  const result = root.transactionSync(() => use(meta));
  await root.close();
  return result;
}

const readMeta = (key: string) => useMeta((meta) => meta.get(key));

/** Turns a folder of JSON rows into one of format 2. */
const asFormatTwo = (names: readonly string[]) =>
  useMeta((meta) => {
    meta.putSync('format', 2);
    for (const name of names) {
      meta.putSync(`${name}.lastId`, meta.get(`${name}.lastRecordId`) ?? 0);
      meta.removeSync(`${name}.lastRecordId`);
    }
  });

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
    expect(reported).toEqual(reportedFromOne(28));
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
    const created = formatOneAnimals.slice(25);
    expect(await retry(store, animals, created)).toEqual(replaysOf(created));
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
    expect(reported).toEqual(reportedFromOne(10_000));
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
    expect((await open()).reported).toContain(migrated(2));
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
    expect(reported).toContain(migrated(2));
    expect(await listAll(store)).toEqual(formatOneAnimals);
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
