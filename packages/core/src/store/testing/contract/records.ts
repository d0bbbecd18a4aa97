import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Animal, animals, PetStatus } from '../../../procedures/animals.ts';
import { expectedPage, petWith, promiseOf, storeErrorWith, type StoreTest, walk } from './storeTest.ts';

/** Declares the cases about the records of a collection. */
export function recordCases(t: StoreTest): void {
  describe('animals', () => {
    test('create and update ignore properties that are not in the schema, and an id', async () => {
      const foreign = { id: 77, owner: 'me' };
      const created = await t.pets.create({ ...petWith(), ...foreign });
      expect(created).toEqual({ id: created.id, name: 'Rex', categoryId: 1 });
      expect(await t.pets.get(created.id)).toEqual(created);
      await t.pets.update(created.id, { ...foreign, name: 'Max' });
      expect(await t.pets.get(created.id)).toEqual({ ...created, name: 'Max' });
      expect(await t.pets.get(77)).toBeUndefined();
    });

    test('create assigns ascending positive safe integers as ids and reuses none after reopening', async () => {
      const ids: number[] = [];
      for (let round = 0; round < 3; round++) {
        for (let count = 0; count < 3; count++) ids.push((await t.pets.create(petWith())).id);
        await t.reopen();
      }
      expect(ids.every((id) => Number.isSafeInteger(id) && id > 0)).toBe(true);
      expect(new Set(ids).size).toBe(9);
      expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    });

    test.runIf(t.capabilities.gaplessIds)('create assigns ids without gaps', async () => {
      const first = await Promise.all([t.pets.create(petWith()), t.pets.create(petWith())]);
      const third = await (await t.reopen()).collection(animals).create(petWith());
      expect([...first, third].map(({ id }) => id)).toEqual([1, 2, 3]);
    });

    test('get and list return an animal as soon as its create has resolved', async () => {
      for (let round = 0; round < 20; round++) {
        const concurrent = promiseOf(() => t.pets.list({ limit: 100 }));
        const created = await t.pets.create(petWith({ status: 'sold' }));
        const cursor = created.id - 1;
        expect(await t.pets.get(created.id)).toEqual(created);
        expect((await t.pets.list({ limit: 1, cursor })).records).toEqual([created]);
        const sold = await t.pets.list({ limit: 1, cursor, where: { status: 'sold' } });
        expect(sold.records).toEqual([created]);
        await concurrent;
      }
    });

    test.for([0, -1, 999_999, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
      'get(%d) returns undefined if no animal has this id',
      async (id) => {
        await t.pets.create(petWith());
        expect(await t.pets.get(id)).toBeUndefined();
      },
    );
  });

  describe('list', () => {
    test('list accepts any integer as cursor, and excludes the record with that id', async () => {
      const [first, second] = [await t.pets.create(petWith()), await t.pets.create(petWith())];
      const after = async (cursor: number) => (await t.pets.list({ limit: 20, cursor })).records;
      expect(await after(first.id)).toEqual([second]);
      expect(await after(first.id - 1)).toEqual([first, second]);
      for (const cursor of [second.id, second.id + 1_000_000, Number.MAX_SAFE_INTEGER]) {
        expect(await after(cursor)).toEqual([]);
      }
      for (const cursor of [0, -1, Number.MIN_SAFE_INTEGER]) {
        expect(await after(cursor)).toEqual([first, second]);
      }
    });

    test('list returns the pages of a reference array for random statuses, limits and cursors', async () => {
      const all: Animal[] = [];
      const status = fc.constantFrom(undefined, ...PetStatus.options);
      const query = fc.record({
        limit: fc.integer({ min: 1, max: 100 }),
        status,
        // An index of a stored animal, and an offset from its id.
        near: fc.option(fc.tuple(fc.nat(200), fc.integer({ min: -1, max: 1 }))),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(status, { maxLength: 12 }),
          fc.array(query, { maxLength: 8 }),
          async (statuses, queries) => {
            for (const each of statuses) {
              all.push(await t.pets.create(each === undefined ? petWith() : petWith({ status: each })));
            }
            for (const { limit, status: wanted, near } of queries) {
              const cursor =
                near === null || all.length === 0
                  ? undefined
                  : (all[near[0] % all.length]?.id ?? 0) + near[1];
              const listed = { limit, where: { status: wanted }, cursor };
              expect(await t.pets.list(listed)).toEqual(expectedPage(all, listed));
              const pages = await walk(t.store, limit, wanted);
              expect(pages.flat()).toEqual(
                expectedPage(all, { limit: Infinity, where: { status: wanted } }).records,
              );
              expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
            }
          },
        ),
        { numRuns: 25 },
      );
    });
  });

  describe('update', () => {
    test('update changes the given fields, returns the whole record and moves it in its indexes', async () => {
      const { id } = await t.pets.create(petWith({ status: 'available' }));
      const list = async (status: PetStatus) => (await t.pets.list({ limit: 10, where: { status } })).records;
      const updated = await t.pets.update(id, { name: 'Max', status: undefined });
      expect(updated).toEqual({ id, name: 'Max', categoryId: 1, status: 'available' });
      const sold = await t.pets.update(id, { status: 'sold' });
      expect(sold).toEqual({ ...updated, status: 'sold' });
      expect([await list('available'), await list('sold')]).toEqual([[], [sold]]);
      expect(await (await t.reopen()).collection(animals).get(id)).toEqual(sold);
    });

    test('update and create fail with invalid if the schema rejects the record, and store nothing', async () => {
      const created = await t.pets.create(petWith());
      const update = t.pets.update(created.id, { categoryId: 1.5 });
      await expect(update).rejects.toEqual(storeErrorWith('invalid'));
      await expect(t.pets.create(petWith({ name: '\ud800' }))).rejects.toEqual(storeErrorWith('invalid'));
      expect((await t.pets.list({ limit: 10 })).records).toEqual([created]);
    });
  });

  describe('delete', () => {
    test('delete removes the record from get and list, also after reopening, and does not free its id', async () => {
      const first = await t.pets.create(petWith());
      const second = await t.pets.create(petWith({ status: 'sold' }));
      expect(await t.pets.delete(second.id)).toBe(true);
      for (let round = 0; round < 2; round++) {
        expect(await t.pets.get(second.id)).toBeUndefined();
        expect(await t.pets.list({ limit: 1 })).toEqual({ records: [first], hasNext: false });
        expect((await t.pets.list({ limit: 10, where: { status: 'sold' } })).records).toEqual([]);
        await t.reopen();
      }
      expect((await t.pets.create(petWith())).id).toBeGreaterThan(second.id);
    });

    test('delete returns false and update undefined if no record has the id, and neither stores one', async () => {
      const { id } = await t.pets.create(petWith());
      expect(await t.pets.update(id + 1, { name: 'Max' })).toBeUndefined();
      expect(await t.pets.get(id + 1)).toBeUndefined();
      expect(await t.pets.delete(id + 1)).toBe(false);
      expect([await t.pets.delete(id), await t.pets.delete(id)]).toEqual([true, false]);
    });

    test('one of three concurrent deletes of a record returns true', async () => {
      const { id } = await t.pets.create(petWith());
      const deleted = await Promise.all([1, 2, 3].map(() => t.pets.delete(id)));
      expect(deleted.filter(Boolean)).toHaveLength(1);
    });

    test('list fills its pages after records were deleted', async () => {
      const ids: number[] = [];
      for (let count = 0; count < 30; count++) {
        const { record } = await t.pets.createOnce(petWith(), { caller: `caller ${count}`, key: 'key' });
        ids.push(record.id);
      }
      for (const id of ids.slice(3, 22)) await t.pets.delete(id);
      const left = [...ids.slice(0, 3), ...ids.slice(22)];
      const walked = await walk(t.store, 4);
      expect(walked.map((page) => page.map(({ id }) => id))).toEqual([
        left.slice(0, 4),
        left.slice(4, 8),
        left.slice(8),
      ]);
    });
  });
}
