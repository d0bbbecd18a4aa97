import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { canRunUnprivileged, unprivilegedUser } from '@petstore/testing/unprivilegedUser';
import {
  appendFile,
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findDamage } from './dataFile.ts';
import { openEmbeddedStore } from './index.ts';
import { readInProcess } from './testing/runStoreProcess.ts';
import { animals, collections } from '@petstore/core';

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder, 'data');
});

describe('a new folder', () => {
  test('openEmbeddedStore creates the folder and its parents for this user only', async () => {
    dataDir = join(folder, 'deep', 'deeper', 'data');
    await (await openEmbeddedStore({ dataDir, collections })).close();
    for (const path of [
      dataDir,
      dirname(dataDir),
      join(dataDir, 'petstore.mdb'),
      join(dataDir, 'petstore.mdb-lock'),
    ]) {
      expect((await stat(path)).mode & 0o077).toBe(0);
    }
  });

  test('openEmbeddedStore with create: false rejects a missing folder and does not create it', async () => {
    await expect(openEmbeddedStore({ dataDir, create: false, collections })).rejects.toMatchObject({
      code: 'unavailable',
      message: `There is no store at ${dataDir}.`,
    });
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('findDamage finds none in a file that is being written', async () => {
  const store = await openEmbeddedStore({ dataDir, collections });
  const stop = new AbortController();
  const writes = (async () => {
    while (!stop.signal.aborted) await store.collection(animals).create({ name: 'Rex', categoryId: 1 });
  })();
  for (let count = 0; count < 300; count += 1) {
    expect(await findDamage(join(dataDir, 'petstore.mdb'))).toBeUndefined();
    await new Promise(setImmediate);
  }
  stop.abort();
  await writes;
  await store.close();
});

test('openEmbeddedStore accepts a file with unused bytes at its end', async () => {
  await (await openEmbeddedStore({ dataDir, collections })).close();
  await appendFile(join(dataDir, 'petstore.mdb'), Buffer.alloc(10_000));
  const store = await openEmbeddedStore({ dataDir, collections });
  expect(store.ready()).toBeUndefined();
  await store.close();
});

test.skipIf(process.platform === 'win32').for([
  { what: 'a folder with a store', file: 'limits', fix: 'run chmod 700' },
  { what: 'a folder with a store and other files', file: 'mine.txt', fix: 'choose' },
])('openEmbeddedStore rejects $what that other users may write to', async ({ file, fix }) => {
  await (await openEmbeddedStore({ dataDir, collections })).close();
  await writeFile(join(dataDir, file), '');
  await chmod(dataDir, 0o777);
  await expect(openEmbeddedStore({ dataDir, collections })).rejects.toMatchObject({
    name: 'StoreError',
    code: 'forbidden',
    message: expect.stringContaining(`Other users can write to the folder ${dataDir} (mode 777): ${fix}`),
  });
});

describe('a symbolic link in a data folder', () => {
  const target = () => join(folder, 'target');

  test.for(['petstore.mdb', 'petstore.mdb-lock'])(
    'openEmbeddedStore rejects a symbolic link %s and does not change its target',
    async (name) => {
      await (await openEmbeddedStore({ dataDir, collections })).close();
      await rename(join(dataDir, name), target());
      const before = await readFile(target());
      await symlink(target(), join(dataDir, name));
      await expect(openEmbeddedStore({ dataDir, collections })).rejects.toMatchObject({
        name: 'StoreError',
        code: 'forbidden',
        message: `${join(dataDir, name)} is a symbolic link; it must be a regular file. Remove it, or choose another folder.`,
      });
      expect(await readFile(target())).toEqual(before);
    },
  );

  test('openEmbeddedStore accepts a data folder that is a symbolic link', async () => {
    await mkdir(target(), { mode: 0o700 });
    await symlink(target(), dataDir);
    await (await openEmbeddedStore({ dataDir, collections })).close();
    expect(await readdir(target())).toContain('petstore.mdb');
  });
});

test('openEmbeddedStore rejects the path of a file, and a path below it, with the fix', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  for (const path of [file, join(file, 'below')]) {
    await expect(openEmbeddedStore({ dataDir: path, collections })).rejects.toMatchObject({
      code: 'unavailable',
      message: `The data folder ${path} cannot be used: it, or one of its parents, is a file. Choose another folder.`,
    });
  }
});

// Linux allows no new entries in /proc and reports ENOENT.
test.runIf(process.platform === 'linux')(
  'openEmbeddedStore fails and does not hang if the folder cannot be created',
  async () => {
    await expect(openEmbeddedStore({ dataDir: '/proc/nope/data', collections })).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The data folder /proc/nope/data cannot be used: ENOENT.',
    });
  },
);

describe.skipIf(!canRunUnprivileged)('a folder without permissions', () => {
  // Those of this process, unless it is root's.
  const { uid = -1, gid = -1 } = unprivilegedUser;
  const forbidden = {
    code: 'forbidden',
    message: expect.stringMatching(
      /^This user cannot read and write the data folder .* \(E\w+(?:: petstore\.mdb)?\)\. Grant access,/,
    ),
  };

  beforeEach(() => chmod(folder, 0o755));
  afterEach(() => chmod(dataDir, 0o700).catch(() => undefined));

  test.for<[what: string, prepare: () => Promise<unknown>]>([
    ['a folder without any permission', () => mkdir(dataDir, { mode: 0o000 })],
    ['a read-only folder', () => mkdir(dataDir, { mode: 0o555 })],
    [
      'a new folder in a read-only folder',
      () => {
        dataDir = join(folder, 'locked', 'data');
        return mkdir(dirname(dataDir), { mode: 0o555 });
      },
    ],
    [
      'a read-only data file',
      async () => {
        await (await openEmbeddedStore({ dataDir, collections })).close();
        await chown(dataDir, uid, gid);
        await chmod(join(dataDir, 'petstore.mdb'), 0o444);
      },
    ],
  ])('openEmbeddedStore fails with forbidden for %s', async ([, prepare]) => {
    await prepare();
    expect(await readInProcess(dataDir, unprivilegedUser)).toEqual(forbidden);
  });

  test('openEmbeddedStore succeeds for the same user with permissions', async () => {
    await mkdir(dataDir, { mode: 0o700 });
    await chown(dataDir, uid, gid);
    expect(await readInProcess(dataDir, unprivilegedUser)).toBe('read');
  });
});
