import { Collection, MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../store.ts';
import { StoreError } from '../storeError.ts';
import { mongodbUri } from '@petstore/testing/mongodb';
import { proxiedDatabase } from './testing/proxiedDatabase.ts';
import { animals } from '../../procedures/animals.ts';

const pet = { name: 'Rex', categoryId: 1 };
const reservation = (key = 'key') => ({ caller: 'caller', key });

const listAll = async (store: Store) => (await store.collection(animals).list({ limit: 100 })).records;

/** A step that a test holds up. */
function gate() {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const pass = () => {
    reach();
    return opened;
  };
  return { pass, reached, open };
}

/** Sets the clock forward for the rest of the test. */
function laterBy(ms: number) {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  vi.setSystemTime(Date.now() + ms);
}

describe.skipIf(mongodbUri === undefined)('a create that must happen once', () => {
  test('is completed by a repeat where the first call stops between reservation and write', async () => {
    const { open } = await proxiedDatabase();
    const between = gate();
    const first = await open({ afterReservation: between.pass });
    const second = await open();
    const slow = first.collection(animals).createOnce(pet, reservation());
    await between.reached;
    expect(await listAll(second)).toEqual([]);

    const repeat = await second.collection(animals).createOnce(pet, reservation());
    expect(repeat).toMatchObject({ record: pet, isReplay: true });
    between.open();
    expect(await slow).toEqual({ record: repeat.record, isReplay: false });
    expect(await listAll(second)).toEqual([repeat.record]);
  });

  test('is of unknown outcome where it fails after the reservation, since a repeat may complete it', async () => {
    const { open } = await proxiedDatabase();
    const crash = new Error('crashed');
    const first = await open({ afterReservation: () => Promise.reject(crash) });
    await expect(first.collection(animals).createOnce(pet, reservation())).rejects.toMatchObject({
      code: 'outcome-unknown',
      cause: crash,
    });
    const second = await open();
    const [one, other] = await Promise.all([
      second.collection(animals).createOnce(pet, reservation()),
      second.collection(animals).createOnce(pet, reservation()),
    ]);
    expect(one.record).toEqual(other.record);
    expect(await listAll(second)).toEqual([one.record]);
  });

  test('does not store its record again where it stands still until a repeat stored it and it was deleted', async () => {
    const { uri, database, open } = await proxiedDatabase();
    const between = gate();
    const first = await open({ afterReservation: between.pass });
    const second = await open();
    const slow = first.collection(animals).createOnce(pet, reservation());
    await between.reached;
    const { record } = await second.collection(animals).createOnce(pet, reservation());
    expect(await second.collection(animals).delete(record.id)).toBe(true);
    between.open();
    expect(await slow).toEqual({ record, isReplay: false });
    expect(await listAll(second)).toEqual([]);
    expect(await second.collection(animals).get(record.id)).toBeUndefined();

    // What keeps the id from being used is removed by the server when the key has expired for certain.
    const client = new MongoClient(uri);
    onTestFinished(() => client.close());
    const rows = client.db(database).collection('animals');
    await vi.waitFor(async () =>
      expect(await rows.indexes()).toContainEqual(
        expect.objectContaining({ key: { _deletedAt: 1 }, expireAfterSeconds: 90_000 }),
      ),
    );
    expect(await rows.find().toArray()).toMatchObject([{ _deletedAt: expect.any(Date) }]);
  });

  test('with another input is refused where the first call has only reserved', async () => {
    const { open } = await proxiedDatabase();
    const between = gate();
    const first = await open({ afterReservation: between.pass });
    const slow = first.collection(animals).createOnce(pet, reservation());
    await between.reached;
    const other = (await open()).collection(animals).createOnce({ ...pet, name: 'Max' }, reservation());
    await expect(other).rejects.toMatchObject({ code: 'key-reused' });
    between.open();
    await slow;
  });

  test('whose reservation has expired is replaced by one of many calls at once', async () => {
    const { open } = await proxiedDatabase();
    const [one, other] = [await open(), await open()];
    const { record: old } = await one.collection(animals).createOnce(pet, reservation());
    laterBy(24 * 3_600_000);
    const calls = [one, other, one, other, one, other, one, other].map((store) =>
      store.collection(animals).createOnce(pet, reservation()),
    );
    const created = await Promise.all(calls);
    expect(new Set(created.map(({ record }) => record.id)).size).toBe(1);
    expect(created.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(await listAll(one)).toEqual([old, created[0]?.record]);
  });

  test('that stood still until its reservation expired stores nothing', async () => {
    const { open } = await proxiedDatabase();
    const between = gate();
    const slow = (await open({ afterReservation: between.pass }))
      .collection(animals)
      .createOnce(pet, reservation());
    await between.reached;
    laterBy(24 * 3_600_000);
    const other = await open();
    const { record, isReplay } = await other.collection(animals).createOnce(pet, reservation());
    expect(isReplay).toBe(false);
    between.open();
    await expect(slow).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(await listAll(other)).toEqual([record]);
  });

  test('happens once though answers of the database are lost, and repeats come from several stores', async () => {
    const { proxy, open } = await proxiedDatabase();
    const stores = await Promise.all([open(), open()]);
    proxy.set({ kind: 'cutReplies', percent: 30, only: 'insert' });
    const keys = Array.from({ length: 8 }, (_, index) => `key ${index}`);
    const failures = new Set<string>();
    const untilDone = async (store: Store, key: string): Promise<number> => {
      for (;;) {
        try {
          const { record } = await store
            .collection(animals)
            .createOnce({ ...pet, name: key }, reservation(key));
          return record.id;
        } catch (error) {
          failures.add(error instanceof StoreError ? error.code : String(error));
        }
      }
    };
    const ids = await Promise.all(
      keys.map((key) => Promise.all(stores.map((store) => untilDone(store, key)))),
    );
    proxy.set({ kind: 'none' });
    expect(proxy.cuts).toBeGreaterThan(0);
    expect(['unavailable', 'outcome-unknown']).toEqual(expect.arrayContaining([...failures]));
    for (const [one, other] of ids) expect(one).toBe(other);
    const created = await listAll(await open());
    expect(created.map(({ name }) => name).toSorted()).toEqual(keys.toSorted());
  });
});

function untilTestEnds<Spy extends { mockRestore: () => void }>(spy: Spy): Spy {
  onTestFinished(() => spy.mockRestore());
  return spy;
}

describe.skipIf(mongodbUri === undefined)("the count of a caller's idempotency keys", () => {
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => `key ${index}`);

  test('is read once for 100 creates of one caller at once, and once more for those of a minute later', async () => {
    const { open } = await proxiedDatabase();
    const store = await open({ operationTimeoutMs: 20_000 });
    const counts = untilTestEnds(vi.spyOn(Collection.prototype, 'countDocuments'));
    await Promise.all(upTo(100).map((key) => store.collection(animals).createOnce(pet, reservation(key))));
    expect(counts).toHaveBeenCalledTimes(1);
    laterBy(60_000);
    await Promise.all(
      upTo(100).map((key) => store.collection(animals).createOnce(pet, reservation(`later ${key}`))),
    );
    expect(counts).toHaveBeenCalledTimes(2);
  });

  test('includes the creates that end while it is read', async () => {
    const { open } = await proxiedDatabase();
    const store = await open({ operationTimeoutMs: 20_000, maxReservations: 1 });
    const [insert, count] = [gate(), gate()];
    untilTestEnds(vi.spyOn(Collection.prototype, 'insertOne')).mockImplementationOnce(async function held(
      this: Collection,
      row,
      options,
    ) {
      await insert.pass();
      return this.insertOne(row, options);
    });
    const first = store.collection(animals).createOnce(pet, reservation('key 1'));
    await insert.reached;
    untilTestEnds(vi.spyOn(Collection.prototype, 'countDocuments')).mockImplementationOnce(
      async function held(this: Collection, filter, options) {
        const found = await this.countDocuments(filter, options);
        await count.pass();
        return found;
      },
    );
    laterBy(60_000);
    const second = store.collection(animals).createOnce(pet, reservation('key 2'));
    await count.reached;
    insert.open();
    await first;
    count.open();
    await expect(second).rejects.toMatchObject({ code: 'too-many-reservations' });
  });

  test('is read though the client that asked for it first goes away', async () => {
    const { open } = await proxiedDatabase();
    const store = await open({ operationTimeoutMs: 20_000 });
    await store.ready();
    const counts = untilTestEnds(vi.spyOn(Collection.prototype, 'countDocuments'));
    const client = new AbortController();
    const gone = store.collection(animals).createOnce(pet, reservation('key 1'), { signal: client.signal });
    const other = store.collection(animals).createOnce(pet, reservation('key 2'));
    client.abort();
    await expect(gone).rejects.toBe(client.signal.reason);
    expect(await other).toMatchObject({ isReplay: false });
    expect(counts).toHaveBeenCalledTimes(1);
  });
});
