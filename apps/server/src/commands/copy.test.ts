import { mkdir } from 'node:fs/promises';
import { collections, issueKey } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { describe, expect, test } from 'vitest';
import { type Folder, newFolder } from '../../test/testing/newFolder.ts';
import { newStock, someAnimals } from '../../test/testing/newStock.ts';
import { runCopy } from './copy.ts';
import { createPet, listPets, rex } from '../../test/testing/petCalls.ts';

const { key, hash } = issueKey();

/** The checksum that a copy prints. */
const checksumIn = (text: string) => /checksum ([\da-f]{64})\.$/m.exec(text)?.[1] ?? 'none';

/** Copies the data folder in this process. */
const copy = ({ dataDir, inProcess }: Folder, to: string, { resume = false } = {}) =>
  inProcess((configuration) => runCopy({ run: 'copy', from: dataDir, to, resume }, configuration), {
    MONGODB_TIMEOUT_MS: '500',
  });

describe('copy between data folders', () => {
  test('copy copies animals and keys, prints their numbers, and continues the ids', async () => {
    const folder = await newFolder();
    await newStock(folder.dataDir, 50, hash);
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
    const listed = await listPets(server.origin, { key, query: '?limit=100' });
    expect(await listed.json()).toEqual(someAnimals(50));
    const created = await createPet(server.origin, rex, { key });
    expect(await created.json()).toMatchObject({ id: 151 });
  });

  test('copy --resume completes a target with a part of the data', async () => {
    const folder = await newFolder();
    await newStock(folder.dataDir, 50, hash);
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

  test.for<[message: string, from: string, to: string]>([
    ['There is no store at ', '-none', '-2'],
    ['There is nothing to copy: the store of --from is empty.', '-empty', '-2'],
    ['--from and --to are the same store.', '', '/../data/'],
  ])('copy fails with one line: %s', async ([message, from, to]) => {
    const folder = await newFolder();
    await newStock(folder.dataDir, 5, hash);
    const empty = `${folder.dataDir}-empty`;
    await mkdir(empty);
    await (await openEmbeddedStore({ dataDir: empty, create: true, collections })).close();
    const { code, stdout, stderr } = await folder.inProcess((configuration) =>
      runCopy(
        { run: 'copy', resume: false, from: `${folder.dataDir}${from}`, to: `${folder.dataDir}${to}` },
        configuration,
      ),
    );
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
    expect(stderr).toMatch(/^[^\n]+\.\n$/);
  });

  test.for([
    [
      'of another kind',
      'postgres://anna:secret@host',
      'A store must be the path of a folder, or a mongodb:// or mongodb+srv:// URI.\n',
    ],
    [
      'of an unreachable database',
      'mongodb://anna:secret@127.0.0.1:1/pets',
      expect.stringMatching(/^The database pets at 127\.0\.0\.1:1 is unavailable[^\n]*\.\n$/),
    ],
  ] as const)('copy fails for a URI %s with one line without its credentials', async ([, to, stderr]) => {
    const folder = await newFolder();
    await newStock(folder.dataDir, 5, hash);
    expect(await copy(folder, to)).toEqual({ code: 1, signal: null, stdout: '', stderr });
  });
});
