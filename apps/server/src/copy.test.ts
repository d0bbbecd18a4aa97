import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashKey, issueKey, type KeyStore } from '@petstore/core';
import { openEmbeddedStore, openEmbeddedTransfer } from '@petstore/core/store/embedded';
import { describe, expect, test } from 'vitest';
import { apiKey, type Folder, newFolder } from './testing/newFolder.ts';
import { someAnimals } from './testing/someAnimals.ts';

const { key } = issueKey();

/** Fills a data folder with animals and the key. */
async function newStock(folder: Folder, animals: number): Promise<void> {
  const transfer = await openEmbeddedTransfer({ dataDir: folder.dataDir, create: true });
  await transfer.collections[0]?.raiseLastId(animals + 100);
  await transfer.putKeys([{ hash: hashKey(key), name: 'first', createdAt: 1 }]);
  await transfer.collections[0]?.put(someAnimals(animals));
  await transfer.close();
}

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
    const { code, stdout, stderr } = await folder.command(['copy', '--from', folder.dataDir, '--to', to]);
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

  test('copy copies idempotency keys, so that a repeated create is replayed', async () => {
    const folder = await newFolder();
    const create = async (origin: string) => {
      const received = await fetch(`${origin}/v1/pets`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': 'once',
        },
        body: JSON.stringify({ name: 'Rex', categoryId: 1 }),
      });
      return { replayed: received.headers.get('idempotent-replayed'), animal: await received.json() };
    };
    const env = { API_KEY: apiKey };
    const first = await folder.serve({ env });
    const { animal } = await create(first.origin);
    await first.stop();
    const to = `${folder.dataDir}-2`;
    await folder.command(['copy', '--from', folder.dataDir, '--to', to]);
    const second = await folder.serve({ env: { ...env, DATA_DIR: to } });
    expect(await create(second.origin)).toEqual({ replayed: 'true', animal });
  });

  test('copy --resume completes a target with a part of the data', async () => {
    const folder = await newFolder();
    await newStock(folder, 50);
    const to = `${folder.dataDir}-2`;
    const args = ['copy', '--from', folder.dataDir, '--to', to];
    const { stdout } = await folder.command(args);
    expect(await folder.command(args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'The store of --to is not empty. Choose another store, or add --resume to continue an interrupted copy.\n',
    });
    const again = await folder.command([...args, '--resume']);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Copied 50 animals \(50 already present\)(?:, 0 \w+)*, 1 API key/),
    });
    expect(checksumIn(again.stdout)).toBe(checksumIn(stdout));
  });

  test.for<[what: string, change: (keys: KeyStore) => Promise<unknown>]>([
    ['used', (keys) => keys.touch(hashKey(key), 7)],
    ['revoked', (keys) => keys.revoke('first', 9)],
    ['added', (keys) => keys.add({ hash: 'hash', name: 'second', createdAt: 2 })],
  ])('copy --resume updates a target that was copied before an API key was %s', async ([, change]) => {
    const folder = await newFolder();
    await newStock(folder, 5);
    const to = `${folder.dataDir}-2`;
    const args = ['copy', '--from', folder.dataDir, '--to', to];
    expect(await folder.command(args)).toMatchObject({ code: 0 });
    const source = await openEmbeddedStore({ dataDir: folder.dataDir });
    await change(source.keys);
    const keys = await source.keys.list();
    await source.close();

    expect(await folder.command([...args, '--resume'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Copied 5 animals (5 already present)'),
    });
    const target = await openEmbeddedStore({ dataDir: to });
    expect(await target.keys.list()).toEqual(keys);
    await target.close();
  });

  test.for<[what: string, args: (dataDir: string) => string[], message: string]>([
    [
      'the source does not exist',
      (dataDir) => ['--from', `${dataDir}-none`, '--to', `${dataDir}-2`],
      'There is no store at ',
    ],
    [
      'the source is empty',
      (dataDir) => ['--from', `${dataDir}-empty`, '--to', `${dataDir}-2`],
      'There is nothing to copy: the store of --from is empty.',
    ],
    [
      'source and target are the same',
      (dataDir) => ['--from', dataDir, '--to', `${dataDir}/../data/`],
      '--from and --to are the same store.',
    ],
    [
      'the target is a URI of another kind',
      (dataDir) => ['--from', dataDir, '--to', 'postgres://anna:secret@host'],
      'A store must be the path of a folder, or a mongodb:// or mongodb+srv:// URI.',
    ],
    [
      'the target cannot be created',
      (dataDir) => ['--from', dataDir, '--to', `${dataDir}-file/x`],
      'data-file/x',
    ],
  ])('copy fails with a one-line error message if %s', async ([, args, message]) => {
    const folder = await newFolder();
    await newStock(folder, 5);
    const empty = `${folder.dataDir}-empty`;
    await mkdir(empty);
    await (await openEmbeddedTransfer({ dataDir: empty, create: true })).close();
    await writeFile(join(`${folder.dataDir}-file`), '');
    const { code, stdout, stderr } = await folder.command(['copy', ...args(folder.dataDir)]);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
    expect(stderr).toMatch(/^[^\n]+\.\n$/);
  });
});
