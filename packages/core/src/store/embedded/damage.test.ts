import { mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openEmbeddedStore, verifiedTables, verifyFolder } from './index.ts';
import { jsonRow } from './rows.ts';
import { openTable, put } from './table.ts';
import { readInProcess } from './testing/startStoreProcess.ts';
import { animals } from '../../procedures/animals.ts';

let folder: string;
let dataDir: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  dataDir = join(folder, 'data');
  file = join(dataDir, 'petstore.mdb');
});
afterEach(() => rm(folder, { recursive: true }));

/** A folder with animals: one a status, and one with a name that fills pages of its own. */
async function makeData(): Promise<void> {
  const store = await openEmbeddedStore({ dataDir });
  await store.collection(animals).create({ name: 'Rex', categoryId: 1 });
  await store.collection(animals).create({ name: 'Bello the available', categoryId: 2, status: 'available' });
  await store.collection(animals).create({ name: 'long '.repeat(2000), categoryId: 3, status: 'sold' });
  await store.keys.add({ name: 'deploy', hash: 'h'.repeat(43), createdAt: 1 });
  await store.close();
}

/** Changes the first byte of a text wherever it stands: pages that LMDB has replaced hold it too. */
async function damageText(text: string): Promise<void> {
  const bytes = await readFile(file);
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    bytes[at] = (bytes[at] ?? 0) ^ 1;
  }
  await writeFile(file, bytes);
}

describe('a damaged file is refused before LMDB maps it, or found out when it is read', () => {
  const damaged = (what: string | RegExp) => ({
    code: 'damaged',
    message: expect.stringMatching(what),
  });

  test.for<[string, string, (size: number) => Promise<void>]>([
    ['that is empty', 'petstore.mdb: it is empty', () => truncate(file, 0)],
    ['cut to half', 'it was cut off, \\d+ bytes are missing', (size) => truncate(file, size / 2)],
    ['that lacks its last byte', 'it was cut off, 1 bytes are missing', (size) => truncate(file, size - 1)],
    ['cut within its meta pages', 'it was cut off within its meta pages', () => truncate(file, 100)],
    ['that is a text', 'a meta page is not one', (size) => writeFile(file, 'text '.repeat(size / 5))],
    ['with garbage in its first meta page', 'a meta page is not one', () => overwrite(0, 200)],
    [
      'with garbage in its second meta page',
      'a meta page is not one',
      async () => overwrite(await pageSize(), 200),
    ],
    ['with a transaction number that cannot be', 'contradict each other', () => overwrite(152, 8)],
    ['with a last page that is not there', 'bytes are missing', () => overwriteBoth(144, 4)],
    ['with a root that is not there', 'points outside the file', () => overwriteBoth(136, 4)],
    ['of zeros', 'a meta page is not one', (size) => writeFile(file, Buffer.alloc(size))],
  ])('%s', async ([, what, spoil]) => {
    await makeData();
    await spoil((await stat(file)).size);
    expect(await readInProcess(dataDir)).toEqual(damaged(what));
  });

  /** LMDB takes the system's: 4 kB, or 16 kB on a Mac. */
  const pageSize = async () => (await readFile(file)).readUInt32LE(48);

  async function overwrite(at: number, length: number): Promise<void> {
    const handle = await open(file, 'r+');
    await handle.write(Buffer.alloc(length, 0xa5), 0, length, at);
    await handle.close();
  }
  async function overwriteBoth(at: number, length: number): Promise<void> {
    await overwrite(at, length);
    await overwrite((await pageSize()) + at, length);
  }

  test('with a flipped bit in an animal: that one is damaged, the others are served', async () => {
    await makeData();
    await damageText('Bello the available');
    const store = await openEmbeddedStore({ dataDir });
    expect(store.collection(animals).get(1)).toEqual({ id: 1, name: 'Rex', categoryId: 1 });
    expect(() => store.collection(animals).get(2)).toThrow('the record of animal 2 is not what was stored');
    expect(() => store.collection(animals).list({ limit: 20, where: { status: 'available' } })).toThrow(
      'the record of animal 2',
    );
    // More often than LMDB has readers: a list that fails gives its snapshot back.
    for (let count = 0; count < 1500; count++) {
      expect(() => store.collection(animals).list({ limit: 20 })).toThrow('the record of animal 2');
    }
    expect(await store.collection(animals).list({ limit: 20, cursor: 2 })).toMatchObject({
      records: [{ id: 3 }],
    });
    expect(await store.collection(animals).create({ name: 'Waldi', categoryId: 1 })).toMatchObject({ id: 4 });
    await store.close();
  });

  test('with a flipped bit in an API key: it is damaged, neither good nor unknown', async () => {
    await makeData();
    await damageText('"createdAt":1');
    const store = await openEmbeddedStore({ dataDir });
    expect(() => store.keys.find('h'.repeat(43))).toThrow('the record of an API key is not what was stored');
    expect(() => store.keys.list()).toThrow('the record of an API key is not what was stored');
    await expect(store.keys.revoke('deploy', 5)).rejects.toMatchObject({ code: 'damaged' });
    await store.close();
  });

  test('with a format that only a newer version knows', async () => {
    await makeData();
    await setMeta('format', 3);
    await expect(openEmbeddedStore({ dataDir })).rejects.toMatchObject({
      code: 'damaged',
      message: `The data in ${dataDir} has format 3 and this version knows 2 at most: start a newer version, or choose another folder.`,
    });
  });

  test('with a counter that fell behind: no animal is overwritten', async () => {
    await makeData();
    await setMeta('animals.lastId', 1);
    const store = await openEmbeddedStore({ dataDir });
    await expect(store.collection(animals).create({ name: 'Waldi', categoryId: 1 })).rejects.toMatchObject({
      code: 'damaged',
    });
    expect(store.collection(animals).get(2)).toMatchObject({ name: 'Bello the available' });
    await store.close();
  });
});

describe('verifyFolder reports a record whose counterpart in another table is gone', () => {
  const remove = (table: string, pick: (keys: Buffer[]) => Buffer | undefined = (keys) => keys[0]) =>
    async function removeEntry(): Promise<void> {
      const root = openLmdb({ path: file, noSubdir: true, overlappingSync: false });
      const entries = root.openDB<Buffer, Buffer>(table, { encoding: 'binary', keyEncoding: 'binary' });
      const key = pick([...entries.getKeys()].map((each) => Buffer.from(each)));
      if (key !== undefined) entries.removeSync(key);
      await root.close();
    };

  test.for<[string, string, RegExp, () => Promise<void>]>([
    [
      'the name of an API key',
      'keys',
      /^the API key "deploy" is not in the index of names$/,
      remove('keys.hashes'),
    ],
    [
      'the count of API keys',
      'keys',
      /^the counter of API keys \(0\) is behind number 1$/,
      () => setMeta('lastKeyNumber', 0),
    ],
    [
      'the create of an idempotency key',
      'reservations',
      /^an idempotency key names animal 4, which was never created$/,
      () => setMeta('animals.lastId', 3),
    ],
    [
      'the expiry of an idempotency key',
      'reservations',
      /^the idempotency key of animal 4 is not in the index of expiry times$/,
      remove('reservations.expiries'),
    ],
    [
      'an idempotency key that has not expired',
      'reservations.expiries',
      /^the entry that expires at .*Z has no idempotency key$/,
      remove('reservations'),
    ],
  ])('%s', async ([, table, clause, spoil]) => {
    await makeData();
    const store = await openEmbeddedStore({ dataDir });
    await store.collection(animals).createOnce({ name: 'Waldi', categoryId: 1 }, { caller: 'c', key: 'k' });
    await store.close();
    expect(await faults()).toEqual([]);
    await spoil();
    expect(await faults()).toContainEqual([table, [expect.stringMatching(clause)]]);
  });

  test('an expired entry that the sweep has not reached is not reported', async () => {
    await makeData();
    const store = await openEmbeddedStore({ dataDir });
    await store.collection(animals).createOnce({ name: 'Waldi', categoryId: 1 }, { caller: 'c', key: 'k' });
    await store.close();
    await remove('reservations')();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_001 });
    expect(await faults().finally(() => vi.useRealTimers())).toEqual([]);
  });

  async function faults(): Promise<[string, readonly string[]][]> {
    const found: [string, readonly string[]][] = [];
    await verifyFolder({
      dataDir,
      tables: verifiedTables(),
      onProgress: () => {},
      onTable: (report) => {
        if (report.errorCount > 0) found.push([report.table, report.errors]);
      },
    });
    return found;
  }
});

async function setMeta(key: string, value: number): Promise<void> {
  const root = openLmdb({ path: file, noSubdir: true, overlappingSync: false });
  const meta = openTable<number | null, string>(root, 'meta', { encoder: jsonRow<number>() });
  root.transactionSync(() => put(meta, key, value));
  await root.close();
}
