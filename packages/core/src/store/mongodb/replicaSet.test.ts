import { type Document, Long } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openMongodbStore } from './index.ts';
import { findResponse, type ReceivedResponse, startFakePrimary } from './testing/fakePrimary.ts';
import { animals } from '../../procedures/animals.ts';
import { collections } from '../../collections.ts';

/** Opens a store on a fake replica set, since the tests' server is not one. These tests run without a server. */
async function openOnSet(responseTo: (command: Document) => ReceivedResponse, uriOptions = '') {
  const primary = await startFakePrimary(responseTo);
  const uri = primary.uri + uriOptions;
  const store = await openMongodbStore({ uri, operationTimeoutMs: 1000, collections });
  onTestFinished(async () => {
    await store.close();
    primary.close();
  });
  return store;
}

const pet = { name: 'Rex', categoryId: 1 };

describe('a create that was stored before its connection was lost', () => {
  const rejection = (code: number) => ({ ok: 0, code, errmsg: 'no', codeName: 'No' });
  test.for<[what: string, connecting: ReceivedResponse]>([
    ['loses its connection while connecting', 'cut'],
    ['is rejected at the login', rejection(18)],
    ['is rejected by a proxy', rejection(8000)],
  ])(
    "a create fails with outcome-unknown if its connection is lost and the driver's retry %s",
    async ([, connecting]) => {
      const stored: string[] = [];
      const store = await openOnSet((command) => {
        // Only the first hello of a connection contains `client`.
        if (stored.length === 2 && 'client' in command) return connecting;
        if (command['insert'] !== 'animals') return undefined;
        for (const { name } of command['documents']) stored.push(name);
        return stored.length === 2 ? 'cut' : undefined;
      });
      await store.collection(animals).create({ ...pet, name: 'one' });
      await expect(store.collection(animals).create({ ...pet, name: 'two' })).rejects.toMatchObject({
        code: 'outcome-unknown',
      });
      expect(stored).toEqual(['one', 'two']);
    },
  );
});

test("a create fails with outcome-unknown if the driver's retry finds its id taken", async () => {
  const inserts: string[] = [];
  const store = await openOnSet((command) => {
    if (command['insert'] !== 'animals') return undefined;
    for (const { name } of command['documents']) inserts.push(name);
    if (inserts.length === 1) return 'cut';
    return { ok: 1, n: 0, writeErrors: [{ index: 0, code: 11_000, errmsg: 'duplicate key' }] };
  });
  await expect(store.collection(animals).create(pet)).rejects.toMatchObject({ code: 'outcome-unknown' });
  expect(inserts).toEqual(['Rex', 'Rex']);
});

test('a create fails with full if its id was taken and its insert under the next id is rejected', async () => {
  let inserts = 0;
  const store = await openOnSet((command) => {
    if (command['insert'] !== 'animals') return undefined;
    inserts++;
    if (inserts === 1)
      return { ok: 1, n: 0, writeErrors: [{ index: 0, code: 11_000, errmsg: 'duplicate key' }] };
    return { ok: 0, code: 12_501, codeName: 'QuotaExceeded', errmsg: 'no space' };
  });
  await expect(store.collection(animals).create(pet)).rejects.toMatchObject({ code: 'full' });
  expect(inserts).toBe(2);
});

describe('options of the URI', () => {
  test.for([
    '',
    'w=0',
    'w=0&journal=false',
    'wtimeoutMS=1',
    'readConcernLevel=local',
    'readPreference=secondary',
    'readPreference=nearest&readPreferenceTags=dc:ny',
    'retryWrites=false&retryReads=false',
    'promoteLongs=false',
    'useBigInt64=true',
    'raw=true',
    'compressors=zlib',
  ])(
    'the URI option %j does not change the write concern, read concern and read preference',
    async (uriOptions) => {
      const seen: Document[] = [];
      const store = await openOnSet((command) => {
        if (command['insert'] === 'animals' || command['find'] === 'animals') seen.push(command);
        if (command['find'] === 'animals')
          return findResponse([{ _id: Long.fromNumber(1), name: 'Rex', categoryId: Long.fromNumber(1) }]);
        return undefined;
      }, `&${uriOptions}`);
      await store.ready();
      seen.length = 0;
      expect(await store.collection(animals).create(pet)).toEqual({ id: 1, ...pet });
      expect(await store.collection(animals).get(1)).toEqual({ id: 1, ...pet });
      const [insert = {}, find = {}] = seen;
      expect(insert['writeConcern']).toEqual({ w: 'majority', j: true, wtimeout: 1000 });
      expect(find['readConcern']).toMatchObject({ level: 'majority' });
      for (const { $readPreference: preference } of seen)
        expect(preference?.mode ?? 'primary').toBe('primary');
    },
  );
});

describe('a key that the majority confirms later', () => {
  /** Keys of a primary, and the number of inserts. Reads return a key only after more than `visibleAfter` inserts. */
  function lateKeys(visibleAfter: number) {
    const keys: Document[] = [];
    const log = { inserts: 0 };
    const responseTo = (command: Document): ReceivedResponse => {
      if (command['find'] === 'keys') return findResponse(log.inserts > visibleAfter ? keys.slice(-1) : []);
      if (command['insert'] !== 'keys') return undefined;
      log.inserts++;
      const [key] = command['documents'];
      if (keys.some(({ _id, number }) => _id === key._id || number === key.number)) {
        return { ok: 1, n: 0, writeErrors: [{ index: 0, code: 11_000, errmsg: 'duplicate key' }] };
      }
      keys.push(key);
      return {
        ok: 1,
        n: 1,
        writeConcernError: { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'timed out' },
      };
    };
    return { responseTo, log };
  }

  test.for([
    ['the same key', 'mine', true],
    ['another key', 'theirs', false],
  ] as const)('addFirst of %s while a first key is unconfirmed', async ([, hash, isFirst]) => {
    const { responseTo } = lateKeys(3);
    const store = await openOnSet(responseTo);
    const record = { hash: 'mine', name: 'first', createdAt: 1 };
    await expect(store.keys.addFirst(record)).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(await store.keys.addFirst({ ...record, hash })).toBe(isFirst);
  });

  test('keys.add with the name of an unconfirmed key polls every 10 ms until its timeout', async () => {
    const { responseTo, log } = lateKeys(Infinity);
    const store = await openOnSet(responseTo);
    const record = { hash: 'mine', name: 'ops', createdAt: 1 };
    await expect(store.keys.add(record)).rejects.toMatchObject({ code: 'outcome-unknown' });
    await expect(store.keys.add(record)).rejects.toMatchObject({ code: 'outcome-unknown' });
    // One insert per 10 ms during a timeout of one second.
    expect(log.inserts).toBeGreaterThan(5);
    expect(log.inserts).toBeLessThan(105);
  });
});
