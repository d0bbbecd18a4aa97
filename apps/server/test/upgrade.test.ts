import { openEmbeddedStore } from '@petstore/embedded-store';
import { expect, test } from 'vitest';
import { apiKey, type Folder, newFolder } from './testing/newFolder.ts';
import { createPet } from './testing/petCalls.ts';

/** Creates a data folder of a version that had no animals, with an API key. */
async function newEarlierFolder(): Promise<Folder> {
  const folder = await newFolder();
  const store = await openEmbeddedStore({ dataDir: folder.dataDir, collections: [] });
  await store.keys.add({ name: 'first', hash: 'h'.repeat(43), createdAt: 1 });
  await store.close();
  return folder;
}

const added = (dataDir: string) => `Added the collection animals to the data in ${dataDir}.`;
const migrationNeeded = (dataDir: string) =>
  `The data in ${dataDir} was created by an earlier version. Start the service, which migrates it.\n`;

test('serve adds missing collections to a data folder of an earlier version, and logs that', async () => {
  const folder = await newEarlierFolder();
  const server = await folder.serve({ env: { API_KEY: apiKey } });
  expect(server.stdout()).toContain(`"msg":"${added(folder.dataDir)}"`);
  expect(await (await createPet(server.origin)).json()).toEqual({ id: 1, name: 'Rex', categoryId: 1 });
});

test.for([['keys', 'list'], ['verify']])(
  '%j rejects a data folder of an earlier version, which that version may be using',
  async (args) => {
    const { command, dataDir } = await newEarlierFolder();
    expect(await command(args)).toMatchObject({ code: 1, stderr: migrationNeeded(dataDir) });
  },
);

test('--check accepts a data folder of an earlier version without changing it', async () => {
  const folder = await newEarlierFolder();
  const { code, stdout } = await folder.command(['--check'], { env: { API_KEY: apiKey } });
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining('The service would start with this configuration and migrate the store.'),
  });
  expect(await folder.command(['verify'])).toMatchObject({ stderr: migrationNeeded(folder.dataDir) });
});

test('backup keeps a data folder of an earlier version as it is, and copy adds missing collections to it', async () => {
  const folder = await newEarlierFolder();
  const backup = `${folder.dataDir}-2`;
  expect(await folder.command(['backup', backup])).toMatchObject({ code: 0 });
  const args = ['copy', '--from', backup, '--to', `${folder.dataDir}-3`];
  expect(await folder.command(args)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Copied 0 animals/),
    stderr: expect.stringContaining(`${added(backup)}\n`),
  });
});
