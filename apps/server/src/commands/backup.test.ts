import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { collections, animals, Animal } from '@petstore/core';
import { openEmbeddedStore, openEmbeddedTransfer } from '@petstore/embedded-store';
import { expect, onTestFinished, test } from 'vitest';
import { apiKey, type Folder, newFolder } from '../../test/testing/newFolder.ts';
import { unprivilegedUser, canRunUnprivileged } from '../../test/testing/unprivilegedUser.ts';
import { someAnimals } from '../../test/testing/someAnimals.ts';
import { runBackup } from './backup.ts';
import { createPet } from '../../test/testing/petCalls.ts';

/** Creates animals on a server until `stop` is called. `created` has the acknowledged ones. */
function creating(origin: string, writers: number) {
  const created: Animal[] = [];
  const stopController = new AbortController();
  const write = async (writer: number) => {
    for (let each = 0; !stopController.signal.aborted; each++) {
      const name = `${writer}/${each} ${'x'.repeat(500)}`;
      const response = await createPet(origin, { name, categoryId: each, status: 'sold' });
      expect(response.status).toBe(201);
      created.push(Animal.parse(await response.json()));
    }
  };
  const writes = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  return {
    created,
    stop: async () => {
      stopController.abort();
      await writes;
    },
  };
}

test('backup of a running store has everything that was acknowledged before, and continues its ids', async () => {
  const folder = await newFolder();
  const server = await folder.serve({ env: { API_KEY: apiKey } });
  const { created, stop } = creating(server.origin, 8);
  onTestFinished(stop);
  for (const round of [1, 2]) {
    const length = created.length + 200;
    while (created.length < length) await new Promise((resolve) => setTimeout(resolve, 5));
    const before = [...created];
    const to = join(dirname(folder.dataDir), `backup ${round}`);
    const { code, stdout, stderr } = await folder.command(['backup', to]);
    expect({ code, stderr, stdout }).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        /^Backed up [\d,]+ animals(?:, 0 \w+)* and 0 API keys \([\d,]+ bytes\) to .*backup \d in [\d.]+ s\.\n$/,
      ),
    });

    expect(await readdir(to)).toEqual(['petstore.mdb']);
    expect((await stat(to)).mode & 0o777).toBe(0o700);
    expect((await stat(join(to, 'petstore.mdb'))).mode & 0o777).toBe(0o600);
    expect(await folder.command(['verify', to])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(' is intact: '),
    });
    const store = await openEmbeddedStore({ dataDir: to, create: false, collections });
    for (const animal of before) expect(await store.collection(animals).get(animal.id)).toEqual(animal);
    const next = await store.collection(animals).create({ name: 'Rex', categoryId: 1 });
    expect(next.id).toBeGreaterThan(before.length);
    expect(await store.collection(animals).get(next.id - 1)).toBeDefined();
    await store.close();
  }
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

test.skipIf(!canRunUnprivileged)(
  'backup below a read-only folder fails with an error message that names the target folder and the reason',
  async () => {
    const folder = await newFolder();
    await (await openEmbeddedStore({ dataDir: folder.dataDir, collections })).close();
    await chmod(dirname(folder.dataDir), 0o755);
    const locked = `${folder.dataDir}-locked`;
    await mkdir(locked, { mode: 0o555 });
    const { code, stderr } = await folder.command(['backup', `${locked}/backup`], unprivilegedUser);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^The backup folder .*-locked\/backup cannot be created \(EACCES: permission denied, mkd.*-locked\/.*\)\. Choose a folder that this user can write to\.\n$/,
    );
  },
);

test('backup rejects a configuration with MONGODB_URI', async () => {
  const folder = await newFolder();
  const env = { MONGODB_URI: 'mongodb://127.0.0.1:1' };
  const { code, stderr } = await backup(folder, `${folder.dataDir}-2`, env);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      'backup copies a data folder, but MONGODB_URI is set. Back up the database with its own tools, or use copy.\n',
  });
});

// Only root may mount a file system.
test.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
  'backup to a full disk fails with an error message and leaves no files',
  async () => {
    const folder = await newFolder();
    const transfer = await openEmbeddedTransfer({ dataDir: folder.dataDir, create: true, collections });
    await transfer.collections[0]?.put(someAnimals(20_000));
    await transfer.close();
    const disk = `${folder.dataDir}-disk`;
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'pipe' });
    try {
      const { code, stderr } = await backup(folder, join(disk, 'backup'));
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `The disk of ${disk} is full and no backup was made. Free some space, or choose another disk.\n`,
      });
      expect(await readdir(disk)).toEqual([]);
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  },
);
