import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { expect, test } from 'vitest';
import { apiKey, type Folder, newFolder } from '../../test/testing/newFolder.ts';
import { newStock } from '../../test/testing/newStock.ts';
import { collections, animals } from '@petstore/core';
import { createPet, rex } from '../../test/testing/petCalls.ts';

async function newUsedStock({ dataDir }: Folder): Promise<void> {
  await newStock(dataDir, 3000, 'h'.repeat(43));
  const store = await openEmbeddedStore({ dataDir, collections });
  await store.collection(animals).createOnce({ name: 'Rex', categoryId: 1 }, { caller: 'c', key: 'k' });
  await store.close();
}

/** Zeroes every page of the file that contains a text, also pages that LMDB has replaced. */
async function zeroPagesWith({ dataDir }: Folder, text: string): Promise<void> {
  const file = join(dataDir, 'petstore.mdb');
  const bytes = await readFile(file);
  const pageSize = bytes.readUInt32LE(48);
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    const page = at - (at % pageSize);
    bytes.fill(0, page, page + pageSize);
  }
  await writeFile(file, bytes);
}

test('verify counts the records of a data folder while a server writes to it', async () => {
  const folder = await newFolder();
  await newUsedStock(folder);
  const { origin } = await folder.serve({ env: { API_KEY: apiKey } });
  const stopController = new AbortController();
  const write = async () => {
    while (!stopController.signal.aborted) {
      await createPet(origin, { ...rex, status: 'sold' });
    }
  };
  const writes = Promise.all([write(), write(), write(), write()]);
  const { code, stdout, stderr } = await folder.command(['verify']);
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /^The data in .* is intact: 3,\d{3} animals(?:, 0 \w+)*, 1 API key and 1 idempotency key, read in [\d.]+ s\.\n$/,
    ),
    stderr: '',
  });
  stopController.abort();
  await writes;
});

test('verify names the table and position of a zeroed page, which aborts the reader, and continues', async () => {
  const folder = await newFolder();
  await newUsedStock(folder);
  await zeroPagesWith(folder, 'animal 1500 ');
  await zeroPagesWith(folder, '"createdAt":1');
  const { code, stdout, stderr } = await folder.command(['verify']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const lines = stderr.split('\n');
  expect(lines[0]).toBe(`The data in ${folder.dataDir} is damaged. Restore it from a backup.`);
  expect(lines[1]).toMatch(
    /^ {2}animals: reading it beyond animal 1400 crashes LMDB \(SIGABRT: .*Assertion 'IS_LEAF\(mp\)' failed.*\)\.$/,
  );
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}keys: LMDB cannot read it beyond entry 0 /));
});

test('verify does not call a record damaged that the schema of this version rejects', async () => {
  const folder = await newFolder();
  const store = await openEmbeddedStore({ dataDir: folder.dataDir, create: true, collections });
  const [stored] = store.transfer().collections;
  await stored?.raiseLastId(7);
  const withoutCategory = { id: 7, name: 'Rex' };
  await stored?.put([withoutCategory]);
  await store.close();
  const { code, stderr } = await folder.command(['verify']);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `The data in ${folder.dataDir} is intact, but this version cannot read all of it. Start the version that stored it.\n  animals: animal 7: the schema of animals in this version rejects it (categoryId: Invalid input: expected number, received undefined).\n`,
  });
});

test('verify rejects a folder without a store, and a configuration with MONGODB_URI', async () => {
  const folder = await newFolder();
  expect(await folder.command(['verify'])).toMatchObject({
    code: 1,
    stderr: `There is no store at ${folder.dataDir}.\n`,
  });
  const env = { MONGODB_URI: 'mongodb://127.0.0.1:1' };
  expect(await folder.command(['verify'], { env })).toMatchObject({
    code: 1,
    stderr:
      'verify reads a data folder, but MONGODB_URI is set. To verify the database, copy it to a new folder, which compares both: copy --from mongodb://… --to FOLDER. To verify a folder, name it: verify FOLDER.\n',
  });
});
