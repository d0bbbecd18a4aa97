import { Collection } from 'mongodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../store.ts';
import { StoreError } from '../storeError.ts';
import { mongodbUri } from '@petstore/testing/mongodb';
import { proxiedDatabase } from './testing/proxiedDatabase.ts';

const pet = { name: 'Rex', categoryId: 1 };
const reservation = (key = 'key') => ({ caller: 'caller', key, fingerprint: 'fingerprint' });

const listAll = async (store: Store) => (await store.list({ limit: 100 })).animals;

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
    const slow = first.createOnce(pet, reservation());
    await between.reached;
    expect(await listAll(second)).toEqual([]);

    const repeat = await second.createOnce(pet, reservation());
    expect(repeat).toMatchObject({ animal: pet, isReplay: true });
    between.open();
    expect(await slow).toEqual({ animal: repeat.animal, isReplay: false });
    expect(await listAll(second)).toEqual([repeat.animal]);
  });

  test('is of unknown outcome where it fails after the reservation, since a repeat may complete it', async () => {
    const { open } = await proxiedDatabase();
    const crash = new Error('crashed');
    const first = await open({ afterReservation: () => Promise.reject(crash) });
    await expect(first.createOnce(pet, reservation())).rejects.toMatchObject({
      code: 'outcome-unknown',
      cause: crash,
    });
    const second = await open();
    const [one, other] = await Promise.all([
      second.createOnce(pet, reservation()),
      second.createOnce(pet, reservation()),
    ]);
    expect(one.animal).toEqual(other.animal);
    expect(await listAll(second)).toEqual([one.animal]);
  });

  test('with another input is refused where the first call has only reserved', async () => {
    const { open } = await proxiedDatabase();
    const between = gate();
    const first = await open({ afterReservation: between.pass });
    const slow = first.createOnce(pet, reservation());
    await between.reached;
    const other = (await open()).createOnce(pet, { ...reservation(), fingerprint: 'other' });
    await expect(other).rejects.toMatchObject({ code: 'key-reused' });
    between.open();
    await slow;
  });

  test('whose reservation has expired is replaced by one of many calls at once', async () => {
    const { open } = await proxiedDatabase();
    const [one, other] = [await open(), await open()];
    const { animal: old } = await one.createOnce(pet, reservation());
    laterBy(24 * 3_600_000);
    const calls = [one, other, one, other, one, other, one, other].map((store) =>
      store.createOnce(pet, reservation()),
    );
    const created = await Promise.all(calls);
    expect(new Set(created.map(({ animal }) => animal.id)).size).toBe(1);
    expect(created.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(await listAll(one)).toEqual([old, created[0]?.animal]);
  });

  test('that stood still until its reservation expired stores nothing', async () => {
    const { open } = await proxiedDatabase();
    const between = gate();
    const slow = (await open({ afterReservation: between.pass })).createOnce(pet, reservation());
    await between.reached;
    laterBy(24 * 3_600_000);
    const other = await open();
    const { animal, isReplay } = await other.createOnce(pet, reservation());
    expect(isReplay).toBe(false);
    between.open();
    await expect(slow).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(await listAll(other)).toEqual([animal]);
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
          const { animal } = await store.createOnce({ ...pet, name: key }, reservation(key));
          return animal.id;
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
    const animals = await listAll(await open());
    expect(animals.map(({ name }) => name).toSorted()).toEqual(keys.toSorted());
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
    await Promise.all(upTo(100).map((key) => store.createOnce(pet, reservation(key))));
    expect(counts).toHaveBeenCalledTimes(1);
    laterBy(60_000);
    await Promise.all(upTo(100).map((key) => store.createOnce(pet, reservation(`later ${key}`))));
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
    const first = store.createOnce(pet, reservation('key 1'));
    await insert.reached;
    untilTestEnds(vi.spyOn(Collection.prototype, 'countDocuments')).mockImplementationOnce(
      async function held(this: Collection, filter, options) {
        const found = await this.countDocuments(filter, options);
        await count.pass();
        return found;
      },
    );
    laterBy(60_000);
    const second = store.createOnce(pet, reservation('key 2'));
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
    const gone = store.createOnce(pet, reservation('key 1'), { signal: client.signal });
    const other = store.createOnce(pet, reservation('key 2'));
    client.abort();
    await expect(gone).rejects.toBe(client.signal.reason);
    expect(await other).toMatchObject({ isReplay: false });
    expect(counts).toHaveBeenCalledTimes(1);
  });
});
