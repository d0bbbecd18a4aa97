import { open, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { open as openLmdb } from 'lmdb';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openEmbeddedStore } from './index.ts';
import { jsonRow } from './rows.ts';
import { openTable, put } from './table.ts';
import { readInProcess } from './testing/runStoreProcess.ts';
import { reportsOf, verificationErrors } from './testing/verificationErrors.ts';
import { collections, animals } from '@petstore/core';

let dataDir: string;
let file: string;

beforeEach(async () => {
  dataDir = join(await temporaryFolder(), 'data');
  file = join(dataDir, 'petstore.mdb');
});

/** Creates a folder with an API key and three animals, one of them with a name that fills several pages. */
async function createData(): Promise<void> {
  const store = await openEmbeddedStore({ dataDir, collections });
  await store.collection(animals).create({ name: 'Rex', categoryId: 1 });
  await store.collection(animals).create({ name: 'Bello the available', categoryId: 2, status: 'available' });
  await store.collection(animals).create({ name: 'long '.repeat(2000), categoryId: 3, status: 'sold' });
  await store.keys.add({ name: 'deploy', hash: 'h'.repeat(43), createdAt: 1 });
  await store.close();
}

/** Changes the first byte of all occurrences of a text. Pages that LMDB has replaced contain it too. */
async function damageText(text: string): Promise<void> {
  const bytes = await readFile(file);
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    bytes[at] = (bytes[at] ?? 0) ^ 1;
  }
  await writeFile(file, bytes);
}

describe('a damaged data file', () => {
  const damaged = (what: string | RegExp) => ({
    code: 'damaged',
    message: expect.stringMatching(what),
  });

  const noSignature = 'a meta page has no LMDB signature';
  test.for<[string, string, (size: number) => Promise<void>]>([
    ['is empty', 'petstore.mdb: it is empty', () => truncate(file, 0)],
    ['is cut in half', 'it is truncated: \\d+ bytes are missing', (size) => truncate(file, size / 2)],
    ['lacks its last byte', 'it is truncated: 1 bytes are missing', (size) => truncate(file, size - 1)],
    ['is cut within its meta pages', 'it is truncated within its meta pages', () => truncate(file, 100)],
    ['has text', noSignature, (size) => writeFile(file, 'text '.repeat(size / 5))],
    ['has garbage in its first meta page', noSignature, () => overwrite(0, 200)],
    ['has garbage in its second meta page', noSignature, async () => overwrite(await pageSize(), 200)],
    ['has an impossible transaction number', 'contradict each other', () => overwrite(152, 8)],
    ['has a last page beyond its end', 'bytes are missing', () => overwriteBoth(144, 4)],
    ['has a root page beyond its end', 'points outside the file', () => overwriteBoth(136, 4)],
  ])('openEmbeddedStore rejects a file as damaged that %s', async ([, what, damageFile]) => {
    await createData();
    await damageFile((await stat(file)).size);
    expect(await readInProcess(dataDir)).toEqual(damaged(what));
  });

  /** LMDB uses the page size of the system: 4 kB, or 16 kB on a Mac. */
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

  test('a flipped bit in an animal makes that animal damaged, and other animals can be read', async () => {
    await createData();
    await damageText('Bello the available');
    const store = await openEmbeddedStore({ dataDir, collections });
    expect(store.collection(animals).get(1)).toEqual({ id: 1, name: 'Rex', categoryId: 1 });
    expect(() => store.collection(animals).get(2)).toThrow('the record of animal 2 is invalid');
    expect(() => store.collection(animals).list({ limit: 20, where: { status: 'available' } })).toThrow(
      'the record of animal 2',
    );
    // More calls than LMDB has readers: a failed list must release its snapshot.
    for (let count = 0; count < 1500; count++) {
      expect(() => store.collection(animals).list({ limit: 20 })).toThrow('the record of animal 2');
    }
    expect(await store.collection(animals).list({ limit: 20, cursor: 2 })).toMatchObject({
      records: [{ id: 3 }],
    });
    expect(await store.collection(animals).create({ name: 'Waldi', categoryId: 1 })).toMatchObject({ id: 4 });
    await store.close();
  });

  test('a flipped bit in an API key makes find, list and revoke fail with damaged', async () => {
    await createData();
    await damageText('"createdAt":1');
    const store = await openEmbeddedStore({ dataDir, collections });
    expect(() => store.keys.find('h'.repeat(43))).toThrow('the record of an API key is invalid');
    expect(() => store.keys.list()).toThrow('the record of an API key is invalid');
    await expect(store.keys.revoke('deploy', 5)).rejects.toMatchObject({ code: 'damaged' });
    await store.close();
  });

  test('openEmbeddedStore rejects another format', async () => {
    await createData();
    await setMeta('format', 2);
    await expect(openEmbeddedStore({ dataDir, collections })).rejects.toMatchObject({
      code: 'damaged',
      message: `The data in ${dataDir} has format 2, but this version supports format 1. Start the version that created it, or choose another folder.`,
    });
  });

  test('create with a counter that is too low fails and overwrites no animal', async () => {
    await createData();
    await setMeta('animals.lastRecordId', 1);
    const store = await openEmbeddedStore({ dataDir, collections });
    await expect(store.collection(animals).create({ name: 'Waldi', categoryId: 1 })).rejects.toMatchObject({
      code: 'damaged',
    });
    expect(store.collection(animals).get(2)).toMatchObject({ name: 'Bello the available' });
    await store.close();
  });
});

describe('verifyFolder', () => {
  /** Changes an entry of a table, by default the first one, or removes it. */
  const changeEntry = (table: string, at: number, change: (value: Buffer) => Buffer | undefined) =>
    async function changed(): Promise<void> {
      const root = openLmdb({ path: file, noSubdir: true, overlappingSync: false });
      const entries = root.openDB<Buffer, Buffer>(table, { encoding: 'binary', keyEncoding: 'binary' });
      const key = [...entries.getKeys()].map((each) => Buffer.from(each))[at] ?? Buffer.alloc(0);
      const value = change(Buffer.from(entries.get(key) ?? ''));
      if (value === undefined) entries.removeSync(key);
      else entries.putSync(key, value);
      await root.close();
    };
  const remove = (table: string, at = 0) => changeEntry(table, at, () => undefined);
  const replace = (table: string, change: (value: Buffer) => Buffer) => changeEntry(table, 0, change);
  const flipped = (value: Buffer) => {
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
    return value;
  };

  const otherRecord = jsonRow().encode({ id: 2, name: 'Rex', categoryId: 1 });
  const otherStatus = jsonRow().encode({ id: 2, name: 'Bello', categoryId: 2, status: 'pending' });

  test.for<[table: string, problem: string, damageTable: () => Promise<void>]>([
    ['animals', 'the record of animal 1 is invalid', replace('animals', flipped)],
    ['animals', 'the record of animal 1 is invalid', replace('animals', () => otherRecord)],
    ['animals', 'the counter of ids (3) is behind animal 4', () => setMeta('animals.lastRecordId', 3)],
    ['animals', 'animal 3 is not in the index of status', remove('animals.status')],
    [
      'animals.status',
      'it names animal 2, which has another status',
      changeEntry('animals', 1, () => otherStatus),
    ],
    ['animals.status', 'it names animal 2, which has another status', remove('animals', 1)],
    ['keys', 'the record of an API key is invalid', replace('keys', flipped)],
    ['keys', 'the API key "deploy" is not in the index of names', remove('keys.hashes')],
    ['keys', 'the counter of API keys (0) is behind number 1', () => setMeta('lastKeyNumber', 0)],
    ['keys.hashes', 'the index entry of the API key "deploy" is invalid', replace('keys.hashes', flipped)],
    ['keys.hashes', 'the API key "deploy" has no record', remove('keys')],
    ['reservations', 'the record of an idempotency key is invalid', replace('reservations', flipped)],
    [
      'reservations',
      'an idempotency key names animal 4, which was never created',
      () => setMeta('animals.lastRecordId', 3),
    ],
    [
      'reservations',
      'the idempotency key of animal 4 is not in the index of expiry times',
      remove('reservations.expiries'),
    ],
    ['reservations.expiries', ' has no idempotency key', remove('reservations')],
    [
      'reservations.callers',
      "the record of a caller's idempotency keys is invalid",
      replace('reservations.callers', flipped),
    ],
  ])('verifyFolder reports for the table %s: %s', async ([table, problem, damageTable]) => {
    await createData();
    const store = await openEmbeddedStore({ dataDir, collections });
    await store.collection(animals).createOnce({ name: 'Waldi', categoryId: 1 }, { caller: 'c', key: 'k' });
    await store.close();
    expect(await verificationErrors(dataDir, collections)).toEqual(new Map());
    await damageTable();
    const errors = await verificationErrors(dataDir, collections);
    expect(errors.get(table)).toEqual([expect.stringContaining(problem)]);
  });

  test('verifyFolder does not report an expired entry that was not removed yet', async () => {
    await createData();
    const store = await openEmbeddedStore({ dataDir, collections });
    await store.collection(animals).createOnce({ name: 'Waldi', categoryId: 1 }, { caller: 'c', key: 'k' });
    await store.close();
    await remove('reservations')();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_001 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await verificationErrors(dataDir, collections)).toEqual(new Map());
  });

  test.for([
    [20, 20],
    [21, 20],
  ] as const)('verifyFolder counts %d errors and describes %d of them', async ([damagedCount, described]) => {
    const store = await openEmbeddedStore({ dataDir, collections });
    for (let each = 0; each < damagedCount; each++) {
      await store.collection(animals).create({ name: 'Bello', categoryId: 1 });
    }
    await store.close();
    await damageText('Bello');
    const [report] = await reportsOf(dataDir, collections);
    expect(report).toMatchObject({ table: 'animals', entries: damagedCount, errorCount: damagedCount });
    expect([report?.errors.length, report?.isDamaged]).toEqual([described, true]);
  });
});

async function setMeta(key: string, value: number): Promise<void> {
  const root = openLmdb({ path: file, noSubdir: true, overlappingSync: false });
  const meta = openTable<number | null, string>(root, 'meta', { encoder: jsonRow<number>() });
  root.transactionSync(() => put(meta, key, value));
  await root.close();
}
