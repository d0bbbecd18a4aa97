import { Collection } from 'mongodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../store.ts';
import { mongodbUri } from '@petstore/testing/mongodb';
import { proxiedDatabase } from './testing/proxiedDatabase.ts';
import { animals } from '../../procedures/animals.ts';

const pet = { name: 'Rex', categoryId: 1 };
const reservation = (key = 'key') => ({ caller: 'caller', key });

const listAll = async (store: Store) => (await store.collection(animals).list({ limit: 100 })).records;

/** Creates a step that waits until the test opens it. */
function gate() {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const pass = () => {
    reach();
    return opened;
  };
  return { pass, reached, open };
}

/** Advances the clock for the rest of the test. */
function advanceClock(ms: number) {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  vi.setSystemTime(Date.now() + ms);
}

describe.skipIf(mongodbUri === undefined)('createOnce', () => {
  test('a retry completes a create that stopped between its reservation and its write, and another input is rejected', async () => {
    const { open } = await proxiedDatabase();
    const between = gate();
    const first = await open({ afterReservation: between.pass });
    const second = await open();
    const slow = first.collection(animals).createOnce(pet, reservation());
    await between.reached;
    expect(await listAll(second)).toEqual([]);
    const other = second.collection(animals).createOnce({ ...pet, name: 'Max' }, reservation());
    await expect(other).rejects.toMatchObject({ code: 'key-reused' });

    const repeat = await second.collection(animals).createOnce(pet, reservation());
    expect(repeat).toMatchObject({ record: pet, isReplay: true });
    between.open();
    expect(await slow).toEqual({ record: repeat.record, isReplay: false });
    expect(await listAll(second)).toEqual([repeat.record]);
  });

  test('a delayed createOnce does not store its record again after a retry stored it and it was deleted', async () => {
    const { connect, open } = await proxiedDatabase();
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

    // The server removes the tombstone after the key has expired.
    const rows = connect().collection('animals');
    expect(await rows.indexes()).toContainEqual(
      expect.objectContaining({ key: { _deletedAt: 1 }, expireAfterSeconds: 90_000 }),
    );
    expect(await rows.find().toArray()).toMatchObject([{ _deletedAt: expect.any(Date) }]);
  });

  test('one of eight concurrent calls replaces an expired reservation', async () => {
    const { open } = await proxiedDatabase();
    const [one, other] = [await open(), await open()];
    const { record: old } = await one.collection(animals).createOnce(pet, reservation());
    advanceClock(24 * 3_600_000);
    const calls = [one, other, one, other, one, other, one, other].map((store) =>
      store.collection(animals).createOnce(pet, reservation()),
    );
    const created = await Promise.all(calls);
    expect(new Set(created.map(({ record }) => record.id)).size).toBe(1);
    expect(created.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(await listAll(one)).toEqual([old, created[0]?.record]);
  });

  test('a createOnce that is delayed until its reservation expired stores nothing', async () => {
    const { open } = await proxiedDatabase();
    const between = gate();
    const slow = (await open({ afterReservation: between.pass }))
      .collection(animals)
      .createOnce(pet, reservation());
    await between.reached;
    advanceClock(24 * 3_600_000);
    const other = await open();
    const { record, isReplay } = await other.collection(animals).createOnce(pet, reservation());
    expect(isReplay).toBe(false);
    between.open();
    await expect(slow).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(await listAll(other)).toEqual([record]);
  });
});

function untilTestEnds<Spy extends { mockRestore: () => void }>(spy: Spy): Spy {
  onTestFinished(() => spy.mockRestore());
  return spy;
}

describe.skipIf(mongodbUri === undefined)("the count of a caller's idempotency keys", () => {
  const keysUpTo = (count: number) => Array.from({ length: count }, (_, index) => `key ${index}`);

  test('100 concurrent creates of one caller count its keys once, and again a minute later', async () => {
    const { open } = await proxiedDatabase();
    const store = await open();
    const counts = untilTestEnds(vi.spyOn(Collection.prototype, 'countDocuments'));
    await Promise.all(
      keysUpTo(100).map((key) => store.collection(animals).createOnce(pet, reservation(key))),
    );
    expect(counts).toHaveBeenCalledTimes(1);
    advanceClock(60_000);
    await Promise.all(
      keysUpTo(100).map((key) => store.collection(animals).createOnce(pet, reservation(`later ${key}`))),
    );
    expect(counts).toHaveBeenCalledTimes(2);
  });

  test('the count completes if the call that started it is aborted', async () => {
    const { open } = await proxiedDatabase();
    const store = await open();
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
