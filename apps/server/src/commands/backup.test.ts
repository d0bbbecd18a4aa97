import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { animals, collections } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { expect, test } from 'vitest';
import { apiKey, type Folder, newFolder } from '../../test/testing/newFolder.ts';
import { createPet, rex } from '../../test/testing/petCalls.ts';
import { runBackup } from './backup.ts';

// What a backup contains, its modes, and full and read-only disks: packages/embedded-store/src/maintenance.

test('backup of a running store has everything that was acknowledged before, and continues its ids', async () => {
  const folder = await newFolder();
  const { origin } = await folder.serve({ env: { API_KEY: apiKey } });
  const created = await Promise.all(
    Array.from({ length: 200 }, async () => (await createPet(origin)).json()),
  );
  const to = join(dirname(folder.dataDir), 'a backup');
  expect(await folder.command(['backup', to])).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(
      /^Backed up 200 animals(?:, 0 \w+)* and 0 API keys \([\d,]+ bytes\) to .*a backup in [\d.]+ s\.\n$/,
    ),
  });
  const store = await openEmbeddedStore({ dataDir: to, create: false, collections });
  const { records } = await store.collection(animals).list({ limit: 100, cursor: 100 });
  expect(records.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, at) => at + 101));
  expect(created).toEqual(expect.arrayContaining(records));
  expect(await store.collection(animals).create(rex)).toMatchObject({ id: 201 });
  await store.close();
});

/** Runs the command in this process. */
const backup = ({ inProcess }: Folder, to: string, env?: Readonly<Record<string, string>>) =>
  inProcess((configuration) => runBackup(to, configuration), env);

test('backup of a folder without a store fails with an error message and creates nothing', async () => {
  const folder = await newFolder();
  const { code, stderr } = await backup(folder, `${folder.dataDir}-2`);
  expect({ code, stderr }).toEqual({ code: 1, stderr: `There is no store at ${folder.dataDir}.\n` });
  expect(await readdir(dirname(folder.dataDir))).toEqual([]);
});

test('backup rejects a configuration with MONGODB_URI', async () => {
  const folder = await newFolder();
  const env = { MONGODB_URI: 'mongodb://127.0.0.1:1' };
  expect(await backup(folder, `${folder.dataDir}-2`, env)).toMatchObject({
    code: 1,
    stderr:
      'backup copies a data folder, but MONGODB_URI is set. Back up the database with its own tools, or use copy.\n',
  });
});
