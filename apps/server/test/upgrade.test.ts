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

test('serve adds missing collections to a data folder of an earlier version, and logs that', async () => {
  const folder = await newEarlierFolder();
  const server = await folder.serve({ env: { API_KEY: apiKey } });
  expect(server.stdout()).toContain(`"msg":"${added(folder.dataDir)}"`);
  expect(await (await createPet(server.origin)).json()).toEqual({ id: 1, name: 'Rex', categoryId: 1 });
});

test('--check, keys list, verify and backup do not migrate a data folder of an earlier version, which may be in use, and copy does', async () => {
  const { command, dataDir } = await newEarlierFolder();
  const checked = await command(['--check'], { env: { API_KEY: apiKey } });
  expect(checked).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('The service would start with this configuration and migrate the store.'),
  });
  const backup = `${dataDir}-2`;
  expect(await command(['backup', backup])).toMatchObject({ code: 0 });
  const stderr = `The data in ${dataDir} was created by an earlier version. Start the service, which migrates it.\n`;
  for (const args of [['keys', 'list'], ['verify']])
    expect(await command(args)).toMatchObject({ code: 1, stderr });
  expect(await command(['copy', '--from', backup, '--to', `${dataDir}-3`])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Copied 0 animals/),
    stderr: expect.stringContaining(`${added(backup)}\n`),
  });
});
