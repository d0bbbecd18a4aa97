import { describe, expect, test } from 'vitest';
import { type Animal, animals as definition } from '@petstore/core';
import {
  type CollectionTransfer,
  type KeyRecord,
  type StoredReservation,
  StoreError,
  type StoreTransfer,
} from '@petstore/core/store';
import { copyStore } from './copyStore.ts';

interface Data {
  readonly animals: Animal[];
  keys: KeyRecord[];
  readonly reservations: StoredReservation[];
  last: number;
}

/** The animals of a store in memory. `beforePut` is called before each batch is stored. */
const animalsOf = (data: Data, beforePut: () => void = () => {}): CollectionTransfer => ({
  definition,
  count: () => data.animals.length,
  records: (after, limit) => data.animals.filter(({ id }) => id > after).slice(0, limit),
  put: async (animals) => {
    await Promise.resolve();
    beforePut();
    data.animals.push(...(animals as Animal[]));
    data.animals.sort((one, other) => one.id - other.id);
  },
  lastId: () => data.last,
  raiseLastId: async (id) => {
    data.last = Math.max(data.last, id);
  },
});

/** A store in memory. @param animals replaces methods of its collection */
function transferOf(
  data: Data,
  beforePut?: () => void,
  animals: Partial<CollectionTransfer> = {},
): StoreTransfer {
  return {
    collections: [{ ...animalsOf(data, beforePut), ...animals }],
    isEmpty: () => data.last === 0 && data.keys.length === 0,
    keys: () => [...data.keys],
    putKeys: async (keys) => {
      for (const key of keys) if (!data.keys.some(({ hash }) => hash === key.hash)) data.keys.push(key);
    },
    reservations: (after, limit) => data.reservations.filter(({ digest }) => digest > after).slice(0, limit),
    putReservations: async (reservations) => {
      for (const { recordId } of reservations)
        expect(data.animals.some(({ id }) => id === recordId)).toBe(true);
      data.reservations.push(...reservations);
    },
    close: async () => {},
  };
}

const empty = (): Data => ({ animals: [], keys: [], reservations: [], last: 0 });

const animal = (id: number): Animal =>
  id % 3 === 0
    ? { id, name: `animal ${id}`, categoryId: -id }
    : { id, name: `${id} \u0000 🐕`, categoryId: id, status: id % 3 === 1 ? 'sold' : 'available' };

/** Data with gaps between ids, as several processes create them. */
const stocked = (count: number): Data => ({
  animals: Array.from({ length: count }, (_, index) => animal(1 + index + 7 * Math.floor(index / 50))),
  keys: [
    { hash: 'b', name: 'first', createdAt: 1, revokedAt: 5 },
    { hash: 'a', name: 'second', createdAt: 2, lastUsedAt: 3 },
  ],
  reservations: Array.from({ length: count / 2 }, (_, index) => ({
    digest: String(index).padStart(64, '0'),
    fingerprint: 'f',
    collection: 'animals',
    recordId: 1,
    expiresAt: 9,
  })),
  last: count * 2,
});

const errorOf = (copying: Promise<unknown>) =>
  copying.then(
    () => 'nothing',
    ({ code, message }: StoreError) => `${code}: ${message}`,
  );

describe('copyStore', () => {
  test('copyStore copies animals, keys, the id counter and idempotency keys, and returns counts and a checksum', async () => {
    const [from, to] = [stocked(5_000), empty()];
    const copied = await copyStore(transferOf(from), transferOf(to));
    expect(to).toEqual(from);
    expect(copied).toEqual({
      collections: [{ name: 'animals', recordName: 'animal', records: 5_000, put: 5_000 }],
      keys: 2,
      reservations: 2_500,
      checksum: expect.stringMatching(/^[\da-f]{64}$/),
    });
    // The checksum depends only on the animals.
    const back = await copyStore(transferOf({ ...to, keys: [], reservations: [] }), transferOf(empty()));
    expect(back).toMatchObject({ keys: 0, reservations: 0, checksum: copied.checksum });
    const none = empty();
    const ofNone = await copyStore(transferOf(empty()), transferOf(none));
    expect(ofNone).toMatchObject({ collections: [{ records: 0 }], keys: 0 });
    expect(ofNone.checksum).not.toBe(copied.checksum);
    expect(none).toEqual(empty());
  });

  test('copyStore raises the id counter before it stores the first animal, and never lowers it', async () => {
    const seen: number[] = [];
    const [from, to] = [stocked(10), { ...empty(), last: 7 }];
    await copyStore(
      transferOf(from),
      transferOf(to, () => seen.push(to.last)),
    );
    expect(seen).toEqual([20]);
    to.last = 99;
    await copyStore(transferOf(from), transferOf(to));
    expect(to.last).toBe(99);
  });

  test.for([1, 2, 3, 5])(
    'copyStore completes a copy that was interrupted at batch %d, and stores only missing animals',
    async (batch) => {
      const [from, to] = [stocked(5_000), empty()];
      let batches = 0;
      const faulty = transferOf(to, () => {
        if (++batches === batch) throw new StoreError('unavailable', 'gone');
      });
      expect(await errorOf(copyStore(transferOf(from), faulty))).toBe('unavailable: gone');
      const copiedCount = to.animals.length;
      expect(copiedCount).toBeLessThan(5_000);
      expect(to.reservations).toEqual([]);
      expect(await copyStore(transferOf(from), transferOf(to))).toMatchObject({
        collections: [{ put: 5_000 - copiedCount }],
      });
      expect(to).toEqual(from);
    },
  );

  test('copyStore returns the number of idempotency keys in the target', async () => {
    const [from, to] = [stocked(100), empty()];
    const forgetful: StoreTransfer = {
      ...transferOf(to),
      putReservations: (reservations) => transferOf(to).putReservations(reservations.slice(1)),
    };
    expect(await copyStore(transferOf(from), forgetful)).toMatchObject({ reservations: 49 });
  });

  test('copyStore fills gaps at the start, in the middle and at the end', async () => {
    const [from, to] = [stocked(3_000), { ...stocked(3_000), reservations: [] }];
    to.animals.splice(2_900, 100);
    to.animals.splice(1_000, 1_000);
    to.animals.splice(0, 1);
    expect(await copyStore(transferOf(from), transferOf(to))).toMatchObject({
      collections: [{ put: 1_101 }],
    });
    expect(to).toEqual(from);
  });

  test.for<[what: string, change: (to: Data) => void, id: number]>([
    ['a different animal with the same id', ({ animals }) => (animals[1] = { ...animal(2), name: 'Max' }), 2],
    ['an additional animal in a gap', ({ animals }) => animals.splice(50, 0, animal(52)), 52],
    ['an additional animal at the end', ({ animals }) => animals.push(animal(9_999)), 9_999],
  ])('copyStore rejects a target that has %s', async ([, change, id]) => {
    const [from, to] = [stocked(100), stocked(100)];
    change(to);
    expect(await errorOf(copyStore(transferOf(from), transferOf(to)))).toBe(
      `conflict: The target has a different animal ${id} than the source. Choose an empty target.`,
    );
  });

  test('copyStore fails if a key is revoked in the source but not in the target', async () => {
    const [from, to] = [stocked(5), stocked(5)];
    to.keys = to.keys.map(({ revokedAt: _revoked, ...key }) => key);
    const forgetful: StoreTransfer = { ...transferOf(to), putKeys: async () => {} };
    expect(await errorOf(copyStore(transferOf(from), forgetful))).toMatch(/^conflict: /);
  });

  test.for<[what: string, store: (animals: Animal[]) => Animal[], count: number]>([
    [
      'returns a different animal than was stored',
      (all) => all.map((each) => ({ ...each, name: 'Rex' })),
      100,
    ],
    ['lacks an animal', (all) => all.slice(0, -1), 99],
  ])('copyStore fails if the target %s', async ([, change, count]) => {
    const [from, to] = [stocked(100), empty()];
    const lossy = transferOf(to, undefined, {
      put: (records) => animalsOf(to).put(change(records as Animal[])),
    });
    expect(await errorOf(copyStore(transferOf(from), lossy))).toMatch(
      new RegExp(
        `^damaged: The copy differs from the source: ${count} of 100 animals, with checksum \\w{64} instead of \\w{64}\\.$`,
      ),
    );
  });

  test('copyStore fails if the source changes during the copy', async () => {
    const [from, to] = [stocked(100), empty()];
    const copying = copyStore(
      transferOf(from),
      transferOf(to, () => from.animals.unshift(animal(-1))),
    );
    expect(await errorOf(copying)).toBe(
      'damaged: The source changed during the copy. Stop its servers first.',
    );
  });

  test('copyStore rejects a target with an additional key or without a collection, and copies no animals', async () => {
    const theirs = { ...empty(), keys: [{ hash: 'c', name: 'theirs', createdAt: 1 }] };
    expect(await errorOf(copyStore(transferOf(stocked(5)), transferOf(theirs)))).toBe(
      'conflict: The target has API keys that the source does not have. Choose an empty target.',
    );
    expect(theirs.animals).toEqual([]);
    const to = empty();
    const target: StoreTransfer = { ...transferOf(to), collections: [] };
    expect(await errorOf(copyStore(transferOf(stocked(5)), target))).toBe(
      'conflict: The target has no collection "animals": open both with the same collections.',
    );
    expect(to).toEqual(empty());
  });
});
