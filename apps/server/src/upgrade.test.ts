import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { apiKey, type Folder, newFolder } from './testing/newFolder.ts';

const fixture = new URL(
  '../../../packages/core/src/store/embedded/testing/fixtures/format1.mdb.gz',
  import.meta.url,
);

/** Creates a data folder of version 1.0.0 with 28 animals. */
async function newFormat1Folder(): Promise<Folder> {
  const folder = await newFolder();
  await mkdir(folder.dataDir, { mode: 0o700 });
  await writeFile(join(folder.dataDir, 'petstore.mdb'), gunzipSync(await readFile(fixture)));
  return folder;
}

const migrationNeeded = (dataDir: string) =>
  `The data in ${dataDir} was created by an earlier version. Start the service, which migrates it.\n`;

test('serve migrates a data folder of version 1.0.0, logs that, and continues its ids', async () => {
  const folder = await newFormat1Folder();
  const server = await folder.serve({ env: { API_KEY: apiKey } });
  expect(server.stdout()).toContain(`"msg":"Migrated the data in ${folder.dataDir} from format 1 to 2."`);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const sold = await fetch(`${server.origin}/v1/pets?status=sold&limit=2`, { headers });
  expect(await sold.json()).toEqual([
    { id: 3, name: 'animal 3', categoryId: 21, status: 'sold' },
    { id: 7, name: 'animal 7', categoryId: 49, status: 'sold' },
  ]);
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  const created = await fetch(`${server.origin}/v1/pets`, { method: 'POST', headers, body });
  expect(await created.json()).toEqual({ id: 29, name: 'Rex', categoryId: 1 });
  await server.stop();
  expect(await folder.command(['verify'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/is intact: 29 animals(?:, 0 \w+)*, 2 API keys and 3 idempotency keys/),
  });
});

test.for([['keys', 'list'], ['keys', 'add', 'ci'], ['keys', 'revoke', 'second'], ['verify']])(
  '%j rejects a data folder of version 1.0.0, which the old version may be using',
  async (args) => {
    const folder = await newFormat1Folder();
    expect(await folder.command(args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: migrationNeeded(folder.dataDir),
    });
  },
);

test('--check accepts a data folder of version 1.0.0 without changing it', async () => {
  const folder = await newFormat1Folder();
  const { code, stdout } = await folder.command(['--check'], { env: { API_KEY: apiKey } });
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining('The service would start with this configuration and migrate the store.'),
  });
  expect(await folder.command(['verify'])).toMatchObject({ stderr: migrationNeeded(folder.dataDir) });
});

test('backup and copy keep all data of a data folder of version 1.0.0', async () => {
  const folder = await newFormat1Folder();
  const backup = `${folder.dataDir}-2`;
  expect(await folder.command(['backup', backup])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Backed up 28 animals and 2 API keys '),
  });
  const args = ['copy', '--from', backup, '--to', `${folder.dataDir}-3`];
  expect(await folder.command(args)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Copied 28 animals(?:, 0 \w+)*, 2 API keys and /),
    stderr: expect.stringContaining(`Migrated the data in ${backup} from format 1 to 2.\n`),
  });
});
