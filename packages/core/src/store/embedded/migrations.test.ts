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
  formatOneMadeAt,
  furtherAnimal,
  makeFormatOne,
} from './testing/formatOne.ts';
import { startStoreProcess } from './testing/startStoreProcess.ts';

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  dataDir = join(folder, 'data');
});
afterEach(() => rm(folder, { recursive: true }));

/** Opens the folder until the test ends. @returns the store, and what it reported */
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

/** Everything that a verification reports. */
async function faults(collections?: readonly CollectionDefinition[]): Promise<string[]> {
  const found: string[] = [];
  await verifyFolder({
    dataDir,
    tables: verifiedTables(collections),
    ...(collections && { collections }),
    onProgress: () => {},
    onTable: ({ table, errors: named }) => found.push(...named.map((each) => `${table}: ${each}`)),
  });
  return found;
}

const migrated = () => `Migrated the data in ${dataDir} from format 1 to 2.`;

describe('a data folder of format 1', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: formatOneMadeAt + 3_600_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is migrated when it is opened: animals, indexes, API keys and ids are there', async () => {
    await makeFormatOne(dataDir);
    const { store, reported } = await open();
    expect(reported).toEqual([migrated(), 'Indexed animals by status: 28 records.']);
    expect(await listAll(store)).toEqual(formatOneAnimals);
    for (const status of PetStatus.options) {
      expect(await listAll(store, status)).toEqual(formatOneAnimals.filter((each) => each.status === status));
    }
    expect(await store.keys.list()).toEqual(formatOneKeys);
    expect(await store.keys.addFirst({ hash: 'hash', name: 'third', createdAt: 1 })).toBe(false);
    expect(await store.collection(animals).create({ name: 'Rex', categoryId: 1 })).toMatchObject({ id: 29 });
    expect(await faults()).toEqual([]);
  });

  test('keeps its idempotency keys: a repeat returns the animal, other values are rejected', async () => {
    await makeFormatOne(dataDir);
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

  test('is migrated once', async () => {
    await makeFormatOne(dataDir);
    await (await open()).store.close();
    expect((await open()).reported).toEqual([]);
  });

  test('of 10,000 animals is migrated whole, and its ids continue', async () => {
    await makeFormatOne(dataDir, 10_000);
    const { store } = await open();
    const all = await listAll(store);
    expect(all.slice(0, 28)).toEqual(formatOneAnimals);
    expect(all.slice(28)).toEqual(Array.from({ length: 9_972 }, (_, index) => furtherAnimal(index + 29)));
    const sold = all.filter(({ status }) => status === 'sold');
    expect(await listAll(store, 'sold')).toEqual(sold);
    expect(await store.collection(animals).create({ name: 'Rex', categoryId: 1 })).toMatchObject({
      id: 10_001,
    });
    expect(await faults()).toEqual([]);
  });

  test('is migrated once by processes that start at the same time', async () => {
    await makeFormatOne(dataDir, 10_000);
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
    expect(await faults()).toEqual([]);
  });

  test('is migrated at the next start where SIGKILL ended the one that migrated it', async () => {
    await makeFormatOne(dataDir, 10_000);
    for (const rows of ['1', '28', '5000', '10000']) {
      const { signal } = await startStoreProcess(['dieMigrating', dataDir, rows]).rest();
      expect(signal).toBe('SIGKILL');
    }
    const { store, reported } = await open();
    expect(reported).toEqual([migrated(), 'Indexed animals by status: 10000 records.']);
    expect(await listAll(store)).toHaveLength(10_000);
    expect(await listAll(store, 'sold')).toHaveLength(2_500);
    expect(await faults()).toEqual([]);
  });

  test('is left as it is where the caller may not migrate it', async () => {
    await makeFormatOne(dataDir);
    await expect(openEmbeddedStore({ dataDir, migrate: false })).rejects.toMatchObject({
      code: 'migration-needed',
      message: `An earlier version made the data in ${dataDir}: start the service, which brings it up to date.`,
    });
    expect((await open()).reported).toContain(migrated());
  });

  test('is backed up as it is', async () => {
    await makeFormatOne(dataDir);
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

describe('a data folder whose collections differ from those of the code', () => {
  test('gets a collection that it does not have, and says so', async () => {
    await (await open()).store.close();
    const { store, reported } = await open([animals, categories]);
    expect(reported).toEqual([`Added the collection categories to the data in ${dataDir}.`]);
    expect(await store.collection(categories).create({ name: 'Dogs' })).toEqual({ id: 1, name: 'Dogs' });
    expect(await faults([animals, categories])).toEqual([]);
  });

  test('is rejected where it has one that the code does not know, and keeps it', async () => {
    const { store } = await open([animals, categories]);
    const dogs = await store.collection(categories).create({ name: 'Dogs' });
    await store.close();
    await expect(open()).rejects.toMatchObject({
      code: 'damaged',
      message: `The data in ${dataDir} has a collection "categories" that this version does not know: start the version that made it, or choose another folder.`,
    });
    const again = await open([animals, categories]);
    expect(await again.store.collection(categories).get(1)).toEqual(dogs);
  });

  test('is backed up with one that the code does not know', async () => {
    const { store } = await open([animals, categories]);
    await store.collection(categories).create({ name: 'Dogs' });
    const to = join(folder, 'backup');
    expect(await backupFolder({ dataDir, to })).toMatchObject({
      collections: [{ records: 0 }, { name: 'categories', recordName: 'category', records: 1 }],
    });
  });

  test('gets an index that it does not have, of the records that are there', async () => {
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

    // Without it, and with it again: what was stored meanwhile is in it.
    const without = await open([animals, categories]);
    const cats = await without.store.collection(categories).create({ name: 'Cats', kind: 'pet' });
    await without.store.close();
    const last = await open([animals, indexed]);
    const pets = await last.store.collection(indexed).list({ limit: 10, where: { kind: 'pet' } });
    expect(pets.records).toEqual([dogs, cats]);
    expect(await faults([animals, indexed])).toEqual([]);
  });

  test('does not get a unique index of values that are there twice, and stays as it is', async () => {
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
      message: expect.stringContaining('category 1 and 3 have the same.'),
    });
    const again = await open([animals, categories]);
    expect((await again.store.collection(categories).list({ limit: 10 })).records).toHaveLength(3);
  });
});
