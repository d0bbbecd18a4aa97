import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openEmbeddedStore } from './index.ts';
import { readInProcess } from './testing/startStoreProcess.ts';
import { animals } from '../../procedures/animals.ts';

const isRoot = process.getuid?.() === 0;

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  dataDir = join(folder, 'data');
});
afterEach(() => rm(folder, { recursive: true }));

describe('a new folder', () => {
  test('is made for its user only, with all that it lies in', async () => {
    dataDir = join(folder, 'deep', 'deeper', 'data');
    await (await openEmbeddedStore({ dataDir })).close();
    for (const path of [
      dataDir,
      dirname(dataDir),
      join(dataDir, 'petstore.mdb'),
      join(dataDir, 'petstore.mdb-lock'),
    ]) {
      expect((await stat(path)).mode & 0o077).toBe(0);
    }
  });

  test('is not made by who asks for a store that is there', async () => {
    await expect(openEmbeddedStore({ dataDir, create: false })).rejects.toMatchObject({
      code: 'unavailable',
      message: `There is no store at ${dataDir}.`,
    });
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('that is there already keeps its mode', async () => {
    await mkdir(dataDir, { mode: 0o750 });
    await (await openEmbeddedStore({ dataDir })).close();
    expect((await stat(dataDir)).mode & 0o777).toBe(0o750);
  });
});

// Root may chmod everything, so its folders are held to the same as anyone's.
describe.skipIf(process.platform === 'win32')('a folder that other users may write to', () => {
  test.for([0o777, 0o702, 0o770].map((mode) => [mode.toString(8), mode] as const))(
    'is refused with the command that ends it: mode %s',
    async ([, mode]) => {
      await mkdir(dataDir);
      await chmod(dataDir, mode);
      await expect(openEmbeddedStore({ dataDir })).rejects.toMatchObject({
        name: 'StoreError',
        code: 'forbidden',
        message: `Other users may write to the data folder ${dataDir} (mode ${mode.toString(8)}): run chmod 700 ${dataDir}, or choose a folder that only this user may write to.`,
      });
      expect(await readdir(dataDir)).toEqual([]);
    },
  );

  test.for([
    ['is sticky, as /tmp is', 0o1777, undefined],
    ['holds files of others', 0o777, 'mine.txt'],
  ] as const)('is refused without the advice to change its mode where it %s', async ([, mode, file]) => {
    await mkdir(dataDir);
    if (file !== undefined) await writeFile(join(dataDir, file), '');
    await chmod(dataDir, mode);
    await expect(openEmbeddedStore({ dataDir })).rejects.toMatchObject({
      code: 'forbidden',
      message: `Other users may write to the data folder ${dataDir} (mode ${mode.toString(8)}): choose a folder that only this user may write to.`,
    });
  });

  test('is refused with that advice where it holds a store alone', async () => {
    await (await openEmbeddedStore({ dataDir })).close();
    await chmod(dataDir, 0o777);
    await expect(openEmbeddedStore({ dataDir })).rejects.toThrow(`run chmod 700 ${dataDir}, or choose`);
  });

  test.runIf(isRoot)('is used where it belongs to another user and only its group may write', async () => {
    await mkdir(dataDir);
    await chown(dataDir, 65_534, 0);
    await chmod(dataDir, 0o2775);
    const store = await openEmbeddedStore({ dataDir });
    expect(await store.collection(animals).create({ name: 'Rex', categoryId: 1 })).toMatchObject({ id: 1 });
    await store.close();
  });
});

describe('a symbolic link in a data folder is never followed', () => {
  const target = () => join(folder, 'target');

  test.for(['petstore.mdb', 'petstore.mdb-lock'])(
    '%s is refused, and what it names is left as it is',
    async (name) => {
      await (await openEmbeddedStore({ dataDir })).close();
      await rename(join(dataDir, name), target());
      const before = await readFile(target());
      await symlink(target(), join(dataDir, name));
      await expect(openEmbeddedStore({ dataDir })).rejects.toMatchObject({
        name: 'StoreError',
        code: 'forbidden',
        message: `${name} in the data folder ${dataDir} is a symbolic link: a regular file is expected. Remove it, or name the folder that holds the data.`,
      });
      expect(await readFile(target())).toEqual(before);
    },
  );

  test.for(['petstore.mdb', 'petstore.mdb-lock'])(
    '%s is refused where what it names is not there, and nothing is made',
    async (name) => {
      await mkdir(dataDir, { mode: 0o700 });
      await symlink(target(), join(dataDir, name));
      await expect(openEmbeddedStore({ dataDir })).rejects.toMatchObject({ code: 'forbidden' });
      await expect(stat(target())).rejects.toMatchObject({ code: 'ENOENT' });
    },
  );

  test('the data folder itself may be one', async () => {
    await mkdir(target(), { mode: 0o700 });
    await symlink(target(), dataDir);
    await (await openEmbeddedStore({ dataDir })).close();
    expect(await readdir(target())).toContain('petstore.mdb');
  });
});

describe('a path that cannot be a folder', () => {
  test('is named with the remedy: a file', async () => {
    await writeFile(dataDir, '');
    await expect(openEmbeddedStore({ dataDir })).rejects.toMatchObject({
      code: 'unavailable',
      message: `The data folder ${dataDir} cannot be used: it, or what it should lie in, is a file. Choose another folder.`,
    });
  });

  test('is named with the remedy: a path below a file', async () => {
    await writeFile(dataDir, '');
    await expect(openEmbeddedStore({ dataDir: join(dataDir, 'below') })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('is a file. Choose another folder.'),
    });
  });
});

// Linux lets nobody make anything there, and says that it is not found.
test.runIf(process.platform === 'linux')('a folder that cannot be made is an error, not a wait', async () => {
  await expect(openEmbeddedStore({ dataDir: '/proc/nope/data' })).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The data folder /proc/nope/data cannot be used: ENOENT.',
  });
});

// Root may read and write everything: there the process runs as another user.
describe('a folder without rights is forbidden, in a sentence with the remedy', () => {
  const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
  const forbidden = {
    code: 'forbidden',
    message: expect.stringMatching(
      /^The data folder .* cannot be read and written by this user \(E\w+\): give the user/,
    ),
  };

  beforeEach(() => chmod(folder, 0o755));
  afterEach(() => chmod(dataDir, 0o700).catch(() => undefined));

  test('where it may not be entered', async () => {
    await mkdir(dataDir);
    await chmod(dataDir, 0o000);
    expect(await readInProcess(dataDir, user)).toEqual(forbidden);
  });

  test('where nothing may be made in it', async () => {
    await mkdir(dataDir);
    await chmod(dataDir, 0o555);
    expect(await readInProcess(dataDir, user)).toEqual(forbidden);
  });

  test('where the folder that it should be made in is not writable', async () => {
    dataDir = join(folder, 'locked', 'data');
    await mkdir(dirname(dataDir), { mode: 0o555 });
    expect(await readInProcess(dataDir, user)).toEqual(forbidden);
  });

  test('where its file may only be read', async () => {
    await (await openEmbeddedStore({ dataDir })).close();
    if (isRoot) await chown(dataDir, 65_534, 65_534);
    await chmod(join(dataDir, 'petstore.mdb'), 0o444);
    expect(await readInProcess(dataDir, user)).toEqual(forbidden);
  });

  test('and with rights it works, as the same user', async () => {
    await mkdir(dataDir, { mode: 0o700 });
    if (isRoot) await chown(dataDir, 65_534, 65_534);
    expect(await readInProcess(dataDir, user)).toBe('read');
  });
});
