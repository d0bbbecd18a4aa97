import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Store, StoreError } from '@petstore/core/store';
import { openEmbeddedStore } from './index.ts';
import { animals, collections } from '@petstore/core';

let folder: string;
let dataDir: string;
let store: Store;
const onFatal = vi.fn<(error: StoreError) => void>();

beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder, 'data');
  onFatal.mockClear();
  store = await openEmbeddedStore({ dataDir, onFatal, collections });
  await store.collection(animals).create({ name: 'Rex', categoryId: 1 });
});
afterEach(() => store.close());

const fatal = (file = 'petstore.mdb') =>
  expect.objectContaining({
    name: 'StoreError',
    code: 'fatal',
    message: `${file} in the data folder ${dataDir} was removed or replaced while in use; later writes are lost. Stop every process that uses the folder, restore the file, and start again.`,
  });
const file = () => join(dataDir, 'petstore.mdb');

/** Replaces a file by a copy. */
async function replace(path: string): Promise<void> {
  await copyFile(path, join(folder, 'copy'));
  await rename(join(folder, 'copy'), path);
}

test.for<[string, string, () => Promise<void>]>([
  ['the data folder is removed', 'petstore.mdb', () => rm(dataDir, { recursive: true })],
  ['the data folder is moved', 'petstore.mdb', () => rename(dataDir, join(folder, 'moved'))],
  [
    'a file takes the place of the data folder',
    'petstore.mdb',
    async () => {
      await rm(dataDir, { recursive: true });
      await writeFile(dataDir, '');
    },
  ],
  [
    'an empty folder takes the place of the data folder',
    'petstore.mdb',
    async () => {
      await rm(dataDir, { recursive: true });
      await mkdir(dataDir);
    },
  ],
  ['petstore.mdb is replaced by a copy', 'petstore.mdb', () => replace(file())],
  ['petstore.mdb-lock is removed', 'petstore.mdb-lock', () => rm(`${file()}-lock`)],
  ['petstore.mdb-lock is replaced', 'petstore.mdb-lock', () => replace(`${file()}-lock`)],
])('if %s, a create is not acknowledged and every later call fails with fatal', async ([, name, change]) => {
  await change();
  await expect(store.collection(animals).create({ name: 'Bello', categoryId: 1 })).rejects.toMatchObject({
    code: 'outcome-unknown',
  });
  expect(() => store.ready()).toThrow(fatal(name));
  expect(() => store.collection(animals).get(1)).toThrow(fatal(name));
  expect(() => store.collection(animals).list({ limit: 1 })).toThrow(fatal(name));
  await expect(store.collection(animals).create({ name: 'Hasso', categoryId: 1 })).rejects.toEqual(
    fatal(name),
  );
  expect(onFatal.mock.calls).toEqual([[fatal(name)]]);
});

test('ready() throws immediately after the data folder was removed', async () => {
  await rm(dataDir, { recursive: true });
  expect(() => store.ready()).toThrow(fatal());
  expect(onFatal.mock.calls).toEqual([[fatal()]]);
});

test('onFatal is called within a second after the data folder was removed', async () => {
  await rm(dataDir, { recursive: true });
  await vi.waitFor(() => expect(onFatal.mock.calls).toEqual([[fatal()]]));
});

test('a folder that is moved away and back between two checks causes no error', async () => {
  await rename(dataDir, join(folder, 'moved'));
  await rename(join(folder, 'moved'), dataDir);
  expect(await store.collection(animals).create({ name: 'Bello', categoryId: 1 })).toMatchObject({ id: 2 });
  await store.ready();
  expect(onFatal).not.toHaveBeenCalled();
});

test('a closed store no longer checks its files', async () => {
  await store.close();
  await rm(dataDir, { recursive: true });
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(onFatal).not.toHaveBeenCalled();
});
