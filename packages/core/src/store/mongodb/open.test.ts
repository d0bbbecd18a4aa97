import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { openMongodbStore } from './index.ts';
import { mongodbUri } from '@petstore/testing/mongodb';
import { measured } from '@petstore/testing/slowness';
import { proxiedDatabase } from './testing/proxiedDatabase.ts';
import { animals } from '../../procedures/animals.ts';
import { collections } from '../../collections.ts';

/** Returns an error with all its properties as text, as a logger may print it. */
async function inspectError(failing: () => unknown): Promise<string> {
  try {
    await failing();
  } catch (error) {
    return inspect(error, { depth: Infinity, showHidden: true });
  }
  throw new Error('It did not fail.');
}

const pet = { name: 'Rex', categoryId: 1 };

describe('a URI', () => {
  test.for([
    ['http://localhost', 'Invalid scheme'],
    ['mongodb://', 'host list'],
    ['mongodb://localhost/?noSuchOption=1', 'nosuchoption'],
    ['mongodb://alice:s3cret@localhost/?noSuchOption=1', 'it must have the form'],
    ['mongodb://alice:s3/cret@localhost/', 'percent-encoded'],
    ['mongodb://alice:s3cret%@localhost/', 'percent-encoded'],
  ])(
    'openMongodbStore rejects the URI %j with a message without credentials',
    async ([uri = '', why = '']) => {
      const text = await inspectError(() => openMongodbStore({ uri, collections }));
      expect(text).toMatch(/StoreError: The URI of the database is invalid: .*\./);
      expect(text).toMatch(new RegExp(why, 'i'));
      expect(text).not.toMatch(/alice|s3|cret/);
    },
  );
});

describe('an unreachable database', () => {
  test('calls fail with unavailable, the first within its timeout and later ones immediately, without the credentials of the URI, and close resolves', async () => {
    const uri = 'mongodb://alice:s3cret@127.0.0.1:1/';
    const store = await openMongodbStore({ uri, operationTimeoutMs: 1000, collections });
    const start = performance.now();
    await expect(store.collection(animals).create(pet)).rejects.toMatchObject({
      name: 'StoreError',
      code: 'unavailable',
      message: expect.stringContaining('The database petstore at 127.0.0.1:1 is unavailable'),
    });
    expect(measured(performance.now() - start)).toBeLessThan(1500);
    const later = performance.now();
    const text = await inspectError(() => store.ready());
    expect(text).toMatch(/code: 'unavailable'/);
    expect(text).toContain('ECONNREFUSED');
    expect(text).not.toMatch(/alice|s3cret/);
    await expect(async () => store.keys.find('hash')).rejects.toMatchObject({ code: 'unavailable' });
    // The first waited for the database, so a busy machine delays both.
    expect(measured(performance.now() - later)).toBeLessThan((later - start) / 2);
    const closing = performance.now();
    await store.close();
    expect(measured(performance.now() - closing)).toBeLessThan(1500);
    await expect(store.collection(animals).create(pet)).rejects.toMatchObject({ code: 'closed' });
  });
});

describe.skipIf(mongodbUri === undefined)('a store on a server', () => {
  test('wrong credentials fail with forbidden, and the error does not contain them', async () => {
    const { uri, open } = await proxiedDatabase();
    const store = await open({ uri: uri.replace('//', '//alice:s3cret@') });
    const text = await inspectError(() => store.ready());
    expect(text).not.toMatch(/alice|s3cret/);
    await expect(async () => store.ready()).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('ten stores that open a new database concurrently are all ready', async () => {
    const { connect, open } = await proxiedDatabase();
    const opened = await Promise.all(Array.from({ length: 10 }, () => open()));
    await Promise.all(opened.map(async (store) => store.ready()));
    const db = connect();
    const indexes = async (name: string) =>
      (await db.collection(name).indexes()).map(({ key }) => JSON.stringify(key)).toSorted();
    expect(await indexes('animals')).toEqual(['{"_deletedAt":1}', '{"_id":1}', '{"status":1,"_id":1}']);
    expect(await indexes('keys')).toEqual(['{"_id":1}', '{"name":1}', '{"number":1}']);
    expect(await indexes('reservations')).toEqual([
      '{"_id":1}',
      '{"caller":1,"expiresAt":1}',
      '{"expiresAt":1}',
    ]);
  });

  test('close() rejects at its deadline if the database does not confirm a write', async () => {
    const { uri, database, proxy } = await proxiedDatabase(1000);
    const store = await openMongodbStore({ uri, database, operationTimeoutMs: 20_000, collections });
    await store.collection(animals).create(pet);
    proxy.set({ kind: 'freeze' });
    const create = store.collection(animals).create(pet);
    const start = performance.now();
    await expect(store.close({ timeoutMs: 200 })).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(measured(performance.now() - start)).toBeLessThan(5000);
    proxy.set({ kind: 'none' });
    await create;
  });

  test('animals are stored as documents with their field names and 64-bit integers', async () => {
    const { connect, open } = await proxiedDatabase();
    const store = await open();
    const { id } = await store
      .collection(animals)
      .create({ name: 'Rex', categoryId: Number.MAX_SAFE_INTEGER, status: 'sold' });
    await store.collection(animals).create({ name: 'Max', categoryId: 0 });
    const rows = connect({ useBigInt64: true }).collection<{ _id: bigint }>('animals');
    expect(await rows.find().toArray()).toEqual([
      { _id: BigInt(id), name: 'Rex', categoryId: 9_007_199_254_740_991n, status: 'sold' },
      { _id: BigInt(id + 1), name: 'Max', categoryId: 0n },
    ]);
  });
});
