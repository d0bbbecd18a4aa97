import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { animals, collections } from '@petstore/core';
import type { Store } from '@petstore/core/store';
import { backupFolder, openEmbeddedStore } from '../index.ts';

let folder: string;
let dataDir: string;
let to: string;
let store: Store;
const pet = { name: 'Rex', categoryId: 1, status: 'sold' } as const;
const reservation = { caller: 'caller', key: 'key' };

beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder, 'data');
  to = join(folder, 'backups', 'today');
  store = await openEmbeddedStore({ dataDir, collections });
});
afterEach(() => store.close());

async function openBackup(): Promise<Store> {
  const backup = await openEmbeddedStore({ dataDir: to, collections });
  onTestFinished(() => backup.close());
  return backup;
}

test('backupFolder copies records, indexes, ids, API keys and idempotency keys of a store in use', async () => {
  const { record } = await store.collection(animals).createOnce(pet, reservation);
  const gone = await store.collection(animals).create(pet);
  await store.collection(animals).delete(gone.id);
  const key = { hash: 'h'.repeat(43), name: 'ci', createdAt: 1 };
  await store.keys.add(key);
  const { collections: backedUp, keys, bytes } = await backupFolder({ dataDir, to });
  expect(backedUp).toContainEqual({ name: 'animals', recordName: 'animal', records: 1 });
  expect({ keys, bytes }).toEqual({ keys: 1, bytes: (await stat(join(to, 'petstore.mdb'))).size });
  // Not in the snapshot.
  await store.collection(animals).create(pet);
  const backup = await openBackup();
  const pets = backup.collection(animals);
  expect(await pets.list({ limit: 10 })).toEqual({ records: [record], hasNext: false });
  expect(await pets.list({ limit: 10, where: { status: 'sold' } })).toMatchObject({ records: [record] });
  expect(await backup.keys.list()).toEqual([key]);
  expect(await pets.createOnce(pet, reservation)).toEqual({ record, isReplay: true });
  expect(await pets.create(pet)).toMatchObject({ id: gone.id + 1 });
});

test('backupFolder creates the folder for this user alone, with nothing but the data file, and nothing beside it', async () => {
  // A sibling whose name begins with that of the data folder.
  to = `${dataDir}-backup`;
  await backupFolder({ dataDir, to });
  expect(await readdir(to)).toEqual(['petstore.mdb']);
  expect(await readdir(folder)).toEqual(['data', 'data-backup']);
  const modes = [await stat(to), await stat(join(to, 'petstore.mdb'))].map(({ mode }) => mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
});

test('backupFolder replaces an empty folder, and rejects one that is not empty, which it keeps', async () => {
  await mkdir(to, { recursive: true });
  await backupFolder({ dataDir, to });
  const second = backupFolder({ dataDir, to });
  await expect(second).rejects.toMatchObject({
    code: 'conflict',
    message: `The backup folder ${to} is not empty. Choose a new or an empty folder.`,
  });
  expect(await readdir(join(folder, 'backups'))).toEqual(['today']);
  expect(await (await openBackup()).collection(animals).list({ limit: 1 })).toMatchObject({ records: [] });
});

test.for(['', 'inner', 'inner/deeper'])(
  'backupFolder rejects a target in the data folder: %j',
  async (inner) => {
    await expect(backupFolder({ dataDir, to: join(dataDir, inner) })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('is inside the data folder'),
    });
    expect(await readdir(dataDir)).toEqual(['petstore.mdb', 'petstore.mdb-lock']);
  },
);

test('backupFolder of a folder without a store fails, and leaves nothing', async () => {
  const empty = join(folder, 'empty');
  await expect(backupFolder({ dataDir: empty, to })).rejects.toMatchObject({
    code: 'unavailable',
    message: `There is no store at ${empty}.`,
  });
  expect(await readdir(join(folder, 'backups'))).toEqual([]);
});

test('backupFolder fails if the target cannot be created, and names it', async () => {
  await writeFile(join(folder, 'file'), '');
  to = join(folder, 'file', 'today');
  await expect(backupFolder({ dataDir, to })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(`The backup folder ${to} cannot be created`),
  });
});
