import { type Document, Long } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openMongodbStore } from './index.ts';
import { type ReceivedResponse, found, startFakePrimary } from './testing/fakePrimary.ts';
import { animals } from '../../procedures/animals.ts';

/** A store on a replica set that answers so. No server of the tests is one, so these run everywhere. */
async function openOnSet(responseTo: (command: Document) => ReceivedResponse, uriOptions = '') {
  const primary = await startFakePrimary(responseTo);
  const uri = primary.uri + uriOptions;
  const store = await openMongodbStore({ uri, operationTimeoutMs: 1000 });
  onTestFinished(async () => {
    await store.close();
    primary.close();
  });
  return store;
}

const pet = { name: 'Rex', categoryId: 1 };

describe('a create that was stored, its connection lost, where the repeat of the driver', () => {
  const refused = (code: number) => ({ ok: 0, code, errmsg: 'no', codeName: 'No' });
  test.for<[what: string, connecting: ReceivedResponse]>([
    ['finds the connection cut while it connects', 'cut'],
    ['is refused the login', refused(18)],
    ['is refused by a proxy', refused(8000)],
  ])('%s, is of unknown outcome', async ([, connecting]) => {
    const stored: string[] = [];
    const store = await openOnSet((command) => {
      // Only the first hello of a connection says who the client is.
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
  });
});

test('a create whose insert the driver repeated, and of which the repeat finds its id taken, is of unknown outcome', async () => {
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

test('a create whose id was taken, and whose insert under the next id is refused, is known not to be stored', async () => {
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

describe('the URI does not weaken', () => {
  test.for([
    '',
    'w=0',
    'w=1',
    'w=0&journal=false',
    'journal=false',
    'wtimeoutMS=1',
    'readConcernLevel=local',
    'readConcernLevel=available',
    'readPreference=secondary',
    'readPreference=nearest&readPreferenceTags=dc:ny',
    'readPreferenceTags=dc:ny',
    'retryWrites=false&retryReads=false',
    'timeoutMS=500',
    'promoteLongs=false',
    'promoteValues=false',
    'useBigInt64=true',
    'raw=true',
    'ignoreUndefined=true',
    'compressors=zlib',
  ])('what is written and read, with %j', async (uriOptions) => {
    const seen: Document[] = [];
    const store = await openOnSet((command) => {
      if (command['insert'] === 'animals' || command['find'] === 'animals') seen.push(command);
      if (command['find'] === 'animals')
        return found([{ _id: Long.fromNumber(1), name: 'Rex', categoryId: Long.fromNumber(1) }]);
      return undefined;
    }, `&${uriOptions}`);
    await store.ready();
    seen.length = 0;
    expect(await store.collection(animals).create(pet)).toEqual({ id: 1, ...pet });
    expect(await store.collection(animals).get(1)).toEqual({ id: 1, ...pet });
    const [insert = {}, find = {}] = seen;
    expect(insert['writeConcern']).toEqual({ w: 'majority', j: true, wtimeout: 1000 });
    expect(find['readConcern']).toMatchObject({ level: 'majority' });
    for (const { $readPreference: preference } of seen) expect(preference?.mode ?? 'primary').toBe('primary');
  });
});

describe('a key that the majority confirms late', () => {
  /** Keys on a primary, and how often it was asked to add one; reads do not see a key before that was `visibleAfter` times. */
  function lateKeys(visibleAfter: number) {
    const keys: Document[] = [];
    const log = { inserts: 0 };
    const responseTo = (command: Document): ReceivedResponse => {
      if (command['find'] === 'keys') return found(log.inserts > visibleAfter ? keys.slice(-1) : []);
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

  test('is the first for who tries it again, though a read does not see it at once', async () => {
    const { responseTo } = lateKeys(3);
    const store = await openOnSet(responseTo);
    const record = { hash: 'mine', name: 'first', createdAt: 1 };
    await expect(store.keys.addFirst(record)).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(await store.keys.addFirst(record)).toBe(true);
  });

  test('is another one for who comes later', async () => {
    const { responseTo } = lateKeys(3);
    const store = await openOnSet(responseTo);
    const record = { hash: 'mine', name: 'first', createdAt: 1 };
    await expect(store.keys.addFirst(record)).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(await store.keys.addFirst({ ...record, hash: 'theirs' })).toBe(false);
  });

  test('is looked for without haste by who adds one of the same name', async () => {
    const { responseTo, log } = lateKeys(Infinity);
    const store = await openOnSet(responseTo);
    const record = { hash: 'mine', name: 'ops', createdAt: 1 };
    await expect(store.keys.add(record)).rejects.toMatchObject({ code: 'outcome-unknown' });
    await expect(store.keys.add(record)).rejects.toMatchObject({ code: 'outcome-unknown' });
    // In a second, 10 ms apart.
    expect(log.inserts).toBeGreaterThan(5);
    expect(log.inserts).toBeLessThan(105);
  });
});
