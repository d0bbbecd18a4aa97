import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { collections, hashKey, issueKey } from '@petstore/core';
import { openEmbeddedTransfer } from '@petstore/embedded-store';
import { describe, expect, test } from 'vitest';
import { type Folder, newFolder } from '../testing/newFolder.ts';
import { someAnimals } from '../testing/someAnimals.ts';
import { type CopyCommand, runCopy } from './copy.ts';

const { key } = issueKey();

/** Fills a data folder with animals and the key. */
async function newStock(folder: Folder, animals: number): Promise<void> {
  const transfer = await openEmbeddedTransfer({ dataDir: folder.dataDir, create: true, collections });
  await transfer.collections[0]?.raiseLastId(animals + 100);
  await transfer.putKeys([{ hash: hashKey(key), name: 'first', createdAt: 1 }]);
  await transfer.collections[0]?.put(someAnimals(animals));
  await transfer.close();
}

type Stores = Pick<CopyCommand, 'from' | 'to'>;

/** Copies the data folder in this process. */
const copy = ({ dataDir, inProcess }: Folder, to: string, { resume = false } = {}) =>
  inProcess((configuration) => runCopy({ run: 'copy', from: dataDir, to, resume }, configuration));

const list = async (origin: string) => {
  const response = await fetch(`${origin}/v1/pets?limit=100`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: response.status, animals: await response.json() };
};

const checksumIn = (text: string) => /checksum ([\da-f]{64})\.$/m.exec(text)?.[1] ?? 'none';

describe('copy between data folders', () => {
  test('copy copies animals and keys, prints their numbers, and continues the ids', async () => {
    const folder = await newFolder();
    await newStock(folder, 50);
    const to = `${folder.dataDir}-2`;
    const args = ['copy', '--from', folder.dataDir, '--to', to];
    const { code, stdout, stderr } = await folder.command(args);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^Copied 50 animals(?:, 0 \w+)*, 1 API key and 0 idempotency keys in [\d.]+ s\. Both stores have checksum [\da-f]{64}\.\n$/,
      ),
    });
    expect(stderr).toMatch(
      /^copying 50 of 50 animals.* \(100 %\)\nverifying 50 of 50 animals.* \(100 %\)\n$/,
    );

    const server = await folder.serve({ env: { DATA_DIR: to } });
    expect(server.stderr()).toBe('');
    expect(await list(server.origin)).toEqual({ status: 200, animals: someAnimals(50) });
    const created = await fetch(`${server.origin}/v1/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Rex', categoryId: 1 }),
    });
    expect(await created.json()).toMatchObject({ id: 151 });
  });

  test('copy --resume completes a target with a part of the data', async () => {
    const folder = await newFolder();
    await newStock(folder, 50);
    const to = `${folder.dataDir}-2`;
    const { stdout } = await copy(folder, to);
    expect(await copy(folder, to)).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'The store of --to is not empty. Choose another store, or add --resume to continue an interrupted copy.\n',
    });
    const again = await copy(folder, to, { resume: true });
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Copied 50 animals \(50 already present\)(?:, 0 \w+)*, 1 API key/),
    });
    expect(checksumIn(again.stdout)).toBe(checksumIn(stdout));
  });

  test.for<[what: string, stores: (dataDir: string) => Stores, message: string]>([
    [
      'the source does not exist',
      (dataDir) => ({ from: `${dataDir}-none`, to: `${dataDir}-2` }),
      'There is no store at ',
    ],
    [
      'the source is empty',
      (dataDir) => ({ from: `${dataDir}-empty`, to: `${dataDir}-2` }),
      'There is nothing to copy: the store of --from is empty.',
    ],
    [
      'source and target are the same',
      (dataDir) => ({ from: dataDir, to: `${dataDir}/../data/` }),
      '--from and --to are the same store.',
    ],
    [
      'the target is a URI of another kind',
      (dataDir) => ({ from: dataDir, to: 'postgres://anna:secret@host' }),
      'A store must be the path of a folder, or a mongodb:// or mongodb+srv:// URI.',
    ],
    [
      'the target cannot be created',
      (dataDir) => ({ from: dataDir, to: `${dataDir}-file/x` }),
      'data-file/x',
    ],
  ])('copy fails with a one-line error message if %s', async ([, stores, message]) => {
    const folder = await newFolder();
    await newStock(folder, 5);
    const empty = `${folder.dataDir}-empty`;
    await mkdir(empty);
    await (await openEmbeddedTransfer({ dataDir: empty, create: true, collections })).close();
    await writeFile(join(`${folder.dataDir}-file`), '');
    const { code, stdout, stderr } = await folder.inProcess((configuration) =>
      runCopy({ run: 'copy', resume: false, ...stores(folder.dataDir) }, configuration),
    );
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
    expect(stderr).toMatch(/^[^\n]+\.\n$/);
  });
});
