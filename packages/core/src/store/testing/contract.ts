import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { collections } from '../../collections.ts';
import { Animal, animals, type NewPet, PetStatus } from '../../procedures/animals.ts';
import { type CollectionDefinition, defineCollection, type StoredRecord } from '../collection.ts';
import type {
  MaybePromise,
  Collection,
  KeyRecord,
  ListQuery,
  Reservation,
  Store,
  StoreOptions,
} from '../store.ts';

/** Value of `maxReservations` for each store under test. */
export const contractReservations = 30;

/** Schema of a collection with features that `animals` lacks: versions, a unique index, an optional index, nested values. */
export const Category = z.object({
  id: z.int(),
  version: z.int(),
  name: z.string().min(1),
  kind: z.string().exactOptional(),
  size: z.number().exactOptional(),
  note: z.string().nullable().exactOptional(),
  tags: z.array(z.object({ tag: z.string() })).exactOptional(),
});
export type Category = z.output<typeof Category>;

export const categories = defineCollection({
  name: 'categories',
  schema: Category,
  id: 'sequence',
  indexes: [{ field: 'name', unique: true }, 'kind', 'size'],
});

/** The collections of a store under test, unless a test names others. */
const contractCollections: readonly CollectionDefinition[] = [...collections, categories];

/** The animals of a later version, with another optional field and its index. */
const animalsWithKennel = defineCollection({
  name: 'animals',
  schema: Animal.extend({ kennel: z.int().exactOptional() }),
  id: 'sequence',
  indexes: ['status', 'kennel'],
});

/** A collection that a later version adds. */
const kennels = defineCollection({
  name: 'kennels',
  schema: z.object({ id: z.int(), size: z.int() }),
  id: 'sequence',
});

/** The data of one test, which is empty. */
export interface StoreUnderTest {
  /** Opens the data. The stores that were opened before are closed. */
  open(options: StoreOptions): Promise<Store>;
  /** Removes the data. All stores are closed. */
  remove(): Promise<void>;
}

/** Differences between stores. Everything else in the port applies to all of them. */
export interface StoreCapabilities {
  /** Whether ids are 1, 2, 3 …, in the order in which animals were acknowledged, across all processes. */
  readonly gaplessIds: boolean;
}

/** Texts that a store may change by mistake. */
const texts = [
  '',
  'a\u0000b\u0000',
  // An emoji of several code points.
  '👩‍🚒🐕‍🦺',
  // The same letter as NFC and as NFD.
  '\u00e9',
  'e\u0301',
  ' \r\n Rex\t ',
  '\ufeffRex',
  '\uffff\u{10ffff}',
  'כלב כלב',
  '__proto__',
  // 1 MB.
  'ü'.repeat(524_288),
];

const petWith = (more: Partial<NewPet> = {}): NewPet => ({ name: 'Rex', categoryId: 1, ...more });

let keyCount = 0;
const keyRecord = (more: Partial<KeyRecord> = {}): KeyRecord => {
  keyCount++;
  const hash = createHash('sha256').update(`key ${keyCount}`).digest('base64url');
  return { hash, name: `key ${keyCount}`, createdAt: 1_700_000_000_000 + keyCount, ...more };
};

/** Calls a method of the port. Turns a value into a promise and a throw into a rejection. */
const promiseOf = async <T>(call: () => MaybePromise<T>): Promise<T> => call();

const storeErrorWith = (code: string) => expect.objectContaining({ name: 'StoreError', code });

/** Reads all pages. */
async function walk(store: Store, limit: number, status?: PetStatus): Promise<Animal[][]> {
  const pages: Animal[][] = [];
  for (let cursor: number | undefined; ; cursor = pages.at(-1)?.at(-1)?.id) {
    const { records, hasNext } = await store.collection(animals).list({ limit, where: { status }, cursor });
    pages.push(records);
    if (!hasNext) return pages;
  }
}

/** Returns the expected result of `list`, computed from an array in ascending order by id. */
function expectedPage(
  all: readonly Animal[],
  { limit, where: { status } = {}, cursor }: ListQuery<Animal, 'status'>,
) {
  const matches = all.filter(
    (animal) =>
      (status === undefined || animal.status === status) && (cursor === undefined || animal.id > cursor),
  );
  return { records: matches.slice(0, limit), hasNext: matches.length > limit };
}

/** Defines the tests that every store passes: docs/decisions.md#stores. Call it in a test file. */
export function storeContract(
  name: string,
  newData: () => MaybePromise<StoreUnderTest>,
  capabilities: StoreCapabilities,
): void {
  describe(`the store contract: ${name}`, () => {
    let data: StoreUnderTest;
    let opened: Store[];
    let store: Store;
    let pets: Collection<Animal, 'status'>;

    beforeEach(async () => {
      data = await newData();
      opened = [];
      pets = (await openAgain()).collection(animals);
    });
    afterEach(async () => {
      for (const each of opened) await each.close();
      await data.remove();
    });

    async function openAgain(definitions = contractCollections, options = {}): Promise<Store> {
      store = await data.open({ collections: definitions, ...options });
      opened.push(store);
      return store;
    }

    async function reopen(): Promise<Store> {
      await store.close();
      pets = (await openAgain()).collection(animals);
      return store;
    }

    describe('animals', () => {
      test('create and update ignore properties that are not in the schema, and an id', async () => {
        const foreign = { id: 77, owner: 'me' };
        const created = await pets.create({ ...petWith(), ...foreign });
        expect(created).toEqual({ id: created.id, name: 'Rex', categoryId: 1 });
        expect(await pets.get(created.id)).toEqual(created);
        await pets.update(created.id, { ...foreign, name: 'Max' });
        expect(await pets.get(created.id)).toEqual({ ...created, name: 'Max' });
        expect(await pets.get(77)).toBeUndefined();
      });

      test('create assigns ascending positive safe integers as ids and reuses none after reopening', async () => {
        const ids: number[] = [];
        for (let round = 0; round < 3; round++) {
          for (let count = 0; count < 3; count++) ids.push((await pets.create(petWith())).id);
          await reopen();
        }
        expect(ids.every((id) => Number.isSafeInteger(id) && id > 0)).toBe(true);
        expect(new Set(ids).size).toBe(9);
        expect(ids).toEqual(ids.toSorted((one, other) => one - other));
      });

      test.runIf(capabilities.gaplessIds)('create assigns ids without gaps', async () => {
        const first = await Promise.all([pets.create(petWith()), pets.create(petWith())]);
        const third = await (await reopen()).collection(animals).create(petWith());
        expect([...first, third].map(({ id }) => id)).toEqual([1, 2, 3]);
      });

      test('get and list return an animal as soon as its create has resolved', async () => {
        for (let round = 0; round < 20; round++) {
          const concurrent = promiseOf(() => pets.list({ limit: 100 }));
          const created = await pets.create(petWith({ status: 'sold' }));
          const cursor = created.id - 1;
          expect(await pets.get(created.id)).toEqual(created);
          expect((await pets.list({ limit: 1, cursor })).records).toEqual([created]);
          const sold = await pets.list({ limit: 1, cursor, where: { status: 'sold' } });
          expect(sold.records).toEqual([created]);
          await concurrent;
        }
      });

      test.for([0, -1, 999_999, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
        'get(%d) returns undefined if no animal has this id',
        async (id) => {
          await pets.create(petWith());
          expect(await pets.get(id)).toBeUndefined();
        },
      );
    });

    describe('a field', () => {
      // Of each collection. A new field needs a value here.
      test.for<[name: string, definition: CollectionDefinition, values: readonly object[]]>([
        [
          'animals',
          animals,
          [
            ...texts.map((text) => ({ name: text, categoryId: Number.MIN_SAFE_INTEGER, status: 'pending' })),
            { name: 'Rex', categoryId: Number.MAX_SAFE_INTEGER },
          ],
        ],
        [
          'categories',
          categories,
          [
            { name: 'Dogs', kind: '', size: 1e300, note: null, tags: [{ tag: '\u0000' }, { tag: '' }] },
            { name: 'Cats', kind: '$a.b', size: -5e-324, note: '__proto__', tags: [] },
            { name: 'Lions' },
          ],
        ],
      ])(
        'every field of %s is read as it was written, by get and list, also after reopening',
        async ([, definition, values]) => {
          const assigned = definition.fields.filter((field) => field === 'id' || field === 'version');
          const present = new Set([...assigned, ...values.flatMap((each) => Object.keys(each))]);
          expect(present).toEqual(new Set(definition.fields));
          const stored: StoredRecord[] = [];
          for (const each of values) {
            const record = await store.collection(definition).create(each);
            expect(record).toMatchObject(each);
            expect(new Set(Object.keys(record))).toEqual(new Set([...assigned, ...Object.keys(each)]));
            stored.push(record);
          }
          for (let round = 0; round < 2; round++) {
            const records = store.collection(definition);
            for (const record of stored) expect(await records.get(record.id)).toEqual(record);
            expect((await records.list({ limit: 100 })).records).toEqual(stored);
            await reopen();
          }
        },
      );

      test('an optional field and its index can be added: earlier records and idempotency keys stay valid', async () => {
        const reservation = { caller: 'caller', key: 'key' };
        const earlier = [
          await pets.create(petWith({ status: 'sold' })),
          (await pets.createOnce(petWith(), reservation)).record,
        ];
        await store.close();
        const later = [
          animalsWithKennel,
          ...contractCollections.filter(({ name: each }) => each !== 'animals'),
        ];
        await openAgain(later);
        let records = store.collection(animalsWithKennel);
        expect((await records.list({ limit: 10 })).records).toEqual(earlier);
        expect(await records.createOnce(petWith(), reservation)).toEqual({
          record: earlier[1],
          isReplay: true,
        });
        const other = records.createOnce({ ...petWith(), kennel: 1 }, reservation);
        await expect(other).rejects.toEqual(storeErrorWith('key-reused'));

        const created = await records.create({ ...petWith(), kennel: 1 });
        const moved = await records.update(earlier[0]?.id ?? 0, { kennel: 1 });
        expect([created, moved]).toMatchObject([{ kennel: 1 }, { kennel: 1, status: 'sold' }]);
        await store.close();
        await openAgain(later);
        records = store.collection(animalsWithKennel);
        expect(await records.get(created.id)).toEqual(created);
        const list = async (kennel: number) => (await records.list({ limit: 10, where: { kennel } })).records;
        expect([await list(1), await list(2)]).toEqual([[moved, created], []]);
      });
    });

    test('a record that a later schema rejects cannot be read by it, and is kept', async () => {
      const kinds = store.collection(categories);
      const dogs = await kinds.create({ name: 'Dogs', kind: 'pet' });
      const lions = await kinds.create({ name: 'Lions' });
      await store.close();
      const stricter = defineCollection({
        name: 'categories',
        schema: Category.extend({ kind: z.literal('wild').exactOptional() }),
        id: 'sequence',
        indexes: [{ field: 'name', unique: true }, 'kind', 'size'],
      });
      const later = [...collections, stricter];
      await openAgain(later);
      const records = store.collection(stricter);
      const incompatible = expect.objectContaining({
        code: 'incompatible',
        message: expect.stringMatching(
          /^The category 1 in the .* cannot be read: the schema of categories in this version rejects it \(kind: .*\)\. Start the version that stored it, or let the schema accept it\.$/,
        ),
      });
      await expect(promiseOf(() => records.get(dogs.id))).rejects.toEqual(incompatible);
      await expect(promiseOf(() => records.list({ limit: 10 }))).rejects.toEqual(incompatible);
      await expect(records.update(dogs.id, { name: 'Cats' })).rejects.toEqual(incompatible);
      await expect(records.delete(dogs.id)).rejects.toEqual(incompatible);
      expect(await records.get(lions.id)).toEqual(lions);
      const stored = (await reopen()).collection(categories);
      expect((await stored.list({ limit: 10 })).records).toEqual([dogs, lions]);
    });

    describe('a store of another version', () => {
      const later = [...contractCollections, kennels];
      const reported: string[] = [];
      const onMigrated = (what: string) => void reported.push(what);
      /** Opens the store and waits until it is ready. */
      const ready = async (definitions: typeof later, migrate?: boolean) => {
        await store.close();
        await (await openAgain(definitions, { migrate, onMigrated })).ready();
      };
      beforeEach(() => void reported.splice(0));

      test.for([true, false])('opening new data reports no migration with migrate: %s', async (migrate) => {
        await store.close();
        await data.remove();
        data = await newData();
        await ready(contractCollections.slice(), migrate);
        expect(reported).toEqual([]);
      });

      test('opening a store adds a missing collection and reports it', async () => {
        await ready(later);
        const sentence = /^Added the collection kennels to the (?:data in|database) .*\.$/;
        expect(reported).toEqual([expect.stringMatching(sentence)]);
        expect(await store.collection(kennels).create({ size: 2 })).toEqual({ id: 1, size: 2 });
      });

      test('opening a store without a collection fails with migration-needed if migrate is false', async () => {
        await expect(ready(later, false)).rejects.toMatchObject({
          code: 'migration-needed',
          message: expect.stringMatching(
            /^The data in .* was created by an earlier version\. Start the service, which migrates it\.$/,
          ),
        });
        await expect(ready(later.slice(0, -1), false)).resolves.toBeUndefined();
      });

      test('opening a store with an unknown collection fails, and keeps it', async () => {
        await ready(later);
        const kennel = await store.collection(kennels).create({ size: 2 });
        await expect(ready(later.slice(0, -1))).rejects.toMatchObject({
          code: 'damaged',
          message: expect.stringMatching(
            /^The data in .* has a collection "kennels" that this version does not know\. Start the version that created it, or choose another (?:folder|database)\.$/,
          ),
        });
        await ready(later);
        expect(await store.collection(kennels).get(kennel.id)).toEqual(kennel);
      });
    });

    describe('createOnce', () => {
      const reservation = (more: Partial<Reservation> = {}): Reservation => ({
        caller: 'caller',
        key: 'key',
        ...more,
      });
      const count = async () => (await pets.list({ limit: 100 })).records.length;
      afterEach(() => void vi.useRealTimers());

      test('createOnce stores the animal, a retry returns it as a replay, and another input is rejected', async () => {
        const values = petWith({ status: 'sold' });
        const first = await pets.createOnce(values, reservation());
        expect(first).toEqual({ record: await pets.get(first.record.id), isReplay: false });
        const again = await pets.createOnce(values, reservation());
        expect(again).toEqual({ record: first.record, isReplay: true });
        const other = pets.createOnce({ ...values, name: 'Max' }, reservation());
        await expect(other).rejects.toEqual(storeErrorWith('key-reused'));
        expect(await count()).toBe(1);
        // JSON has no -0.
        const zero = () => pets.createOnce(petWith({ categoryId: -0 }), reservation({ key: 'zero' }));
        expect([await zero(), await zero()]).toMatchObject([{ isReplay: false }, { isReplay: true }]);
      });

      test('createOnce stores one animal for 50 concurrent calls with one key', async () => {
        const calls = Array.from({ length: 50 }, () => pets.createOnce(petWith(), reservation()));
        const created = await Promise.all(calls);
        expect(new Set(created.map(({ record }) => record.id)).size).toBe(1);
        expect(created.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
        expect(await count()).toBe(1);
      });

      test.for([
        { key: 'another' },
        { caller: 'another' },
        { caller: 'call', key: 'erkey' },
        { key: '~'.repeat(255) },
      ])('createOnce stores another animal under %j', async (more) => {
        await pets.createOnce(petWith(), reservation());
        expect(await pets.createOnce(petWith(), reservation(more))).toMatchObject({ isReplay: false });
        expect(await count()).toBe(2);
      });

      test('createOnce recognizes a retry for 24 hours and not longer', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        const { record } = await pets.createOnce(petWith(), reservation());
        vi.setSystemTime(Date.now() + 24 * 3_600_000 - 1);
        expect(await pets.createOnce(petWith(), reservation())).toEqual({ record, isReplay: true });
        vi.setSystemTime(Date.now() + 1);
        expect(await pets.createOnce(petWith(), reservation())).toMatchObject({ isReplay: false });
        expect(await pets.createOnce(petWith(), reservation())).toMatchObject({ isReplay: true });
        expect(await count()).toBe(2);
      });

      test('createOnce rejects a new key over the limit of a caller, but serves its retries and other callers', async () => {
        const once = (key: number) => pets.createOnce(petWith(), reservation({ key: `key ${key}` }));
        for (let key = 1; key <= contractReservations; key++) await once(key);
        const error: unknown = await once(0).catch((reason: unknown) => reason);
        expect(error).toEqual(storeErrorWith('too-many-reservations'));
        // Reservations expire after 24 hours, and are counted per hour.
        const { retryAfterSeconds } = z.object({ retryAfterSeconds: z.number() }).parse(error);
        expect(retryAfterSeconds).toBeGreaterThan(23.9 * 3_600);
        expect(retryAfterSeconds).toBeLessThanOrEqual(25 * 3_600);
        expect(await once(1)).toMatchObject({ isReplay: true });
        await expect(pets.createOnce(petWith(), reservation({ caller: 'other' }))).resolves.toMatchObject({
          isReplay: false,
        });
        await reopen();
        await expect(once(0)).rejects.toEqual(storeErrorWith('too-many-reservations'));
        expect(await count()).toBe(contractReservations + 1);
      });

      test('createOnce keeps the limit of a caller until its keys expire, also when the hour changes, and then counts from zero', async () => {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-22T10:30:00Z') });
        const started = Date.now();
        const once = (key: string) => pets.createOnce(petWith(), reservation({ key }));
        const rejected = (key: string) => once(key).catch((reason: unknown) => reason);
        for (let key = 1; key <= contractReservations; key++) await once(`key ${key}`);
        const minute = 60_000;
        for (const after of [29, 31, 60, 13 * 60, 24 * 60 - 1]) {
          vi.setSystemTime(started + after * minute);
          expect(await rejected('one more')).toEqual(storeErrorWith('too-many-reservations'));
        }
        const { retryAfterSeconds } = z
          .object({ retryAfterSeconds: z.int() })
          .parse(await rejected('one more'));
        vi.setSystemTime(Date.now() + retryAfterSeconds * 1_000);
        for (let key = 1; key <= contractReservations; key++) {
          expect(await once(`later key ${key}`)).toMatchObject({ isReplay: false });
        }
        expect(await rejected('one more')).toEqual(storeErrorWith('too-many-reservations'));
      });

      test('createOnce recognizes a retry with a key that expired and was used again, while expired keys are removed', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        const once = (key: string) => pets.createOnce(petWith(), reservation({ key }));
        for (let each = 1; each <= 10; each++) {
          await once(`key ${each}`);
          vi.setSystemTime(Date.now() + 1);
        }
        vi.setSystemTime(Date.now() + 24 * 3_600_000);
        const { record, isReplay } = await once('key 10');
        expect(isReplay).toBe(false);
        for (let each = 1; each <= 10; each++) {
          await once(`other key ${each}`);
          expect(await once('key 10')).toEqual({ record, isReplay: true });
        }
      });
    });

    describe('list', () => {
      test('list accepts any integer as cursor, and excludes the record with that id', async () => {
        const [first, second] = [await pets.create(petWith()), await pets.create(petWith())];
        const after = async (cursor: number) => (await pets.list({ limit: 20, cursor })).records;
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
                all.push(await pets.create(each === undefined ? petWith() : petWith({ status: each })));
              }
              for (const { limit, status: wanted, near } of queries) {
                const cursor =
                  near === null || all.length === 0
                    ? undefined
                    : (all[near[0] % all.length]?.id ?? 0) + near[1];
                const listed = { limit, where: { status: wanted }, cursor };
                expect(await pets.list(listed)).toEqual(expectedPage(all, listed));
                const pages = await walk(store, limit, wanted);
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
        const { id } = await pets.create(petWith({ status: 'available' }));
        const list = async (status: PetStatus) => (await pets.list({ limit: 10, where: { status } })).records;
        const updated = await pets.update(id, { name: 'Max', status: undefined });
        expect(updated).toEqual({ id, name: 'Max', categoryId: 1, status: 'available' });
        const sold = await pets.update(id, { status: 'sold' });
        expect(sold).toEqual({ ...updated, status: 'sold' });
        expect([await list('available'), await list('sold')]).toEqual([[], [sold]]);
        expect(await (await reopen()).collection(animals).get(id)).toEqual(sold);
      });

      test('update and create fail with invalid if the schema rejects the record, and store nothing', async () => {
        const created = await pets.create(petWith());
        const update = pets.update(created.id, { categoryId: 1.5 });
        await expect(update).rejects.toEqual(storeErrorWith('invalid'));
        await expect(pets.create(petWith({ name: '\ud800' }))).rejects.toEqual(storeErrorWith('invalid'));
        expect((await pets.list({ limit: 10 })).records).toEqual([created]);
      });
    });

    describe('delete', () => {
      test('delete removes the record from get and list, also after reopening, and does not free its id', async () => {
        const first = await pets.create(petWith());
        const second = await pets.create(petWith({ status: 'sold' }));
        expect(await pets.delete(second.id)).toBe(true);
        for (let round = 0; round < 2; round++) {
          expect(await pets.get(second.id)).toBeUndefined();
          expect(await pets.list({ limit: 1 })).toEqual({ records: [first], hasNext: false });
          expect((await pets.list({ limit: 10, where: { status: 'sold' } })).records).toEqual([]);
          await reopen();
        }
        expect((await pets.create(petWith())).id).toBeGreaterThan(second.id);
      });

      test('delete returns false and update undefined if no record has the id, and neither stores one', async () => {
        const { id } = await pets.create(petWith());
        expect(await pets.update(id + 1, { name: 'Max' })).toBeUndefined();
        expect(await pets.get(id + 1)).toBeUndefined();
        expect(await pets.delete(id + 1)).toBe(false);
        expect([await pets.delete(id), await pets.delete(id)]).toEqual([true, false]);
      });

      test('one of three concurrent deletes of a record returns true', async () => {
        const { id } = await pets.create(petWith());
        const deleted = await Promise.all([1, 2, 3].map(() => pets.delete(id)));
        expect(deleted.filter(Boolean)).toHaveLength(1);
      });

      test('list fills its pages after records were deleted', async () => {
        const ids: number[] = [];
        for (let count = 0; count < 30; count++) {
          const { record } = await pets.createOnce(petWith(), { caller: `caller ${count}`, key: 'key' });
          ids.push(record.id);
        }
        for (const id of ids.slice(3, 22)) await pets.delete(id);
        const left = [...ids.slice(0, 3), ...ids.slice(22)];
        const walked = await walk(store, 4);
        expect(walked.map((page) => page.map(({ id }) => id))).toEqual([
          left.slice(0, 4),
          left.slice(4, 8),
          left.slice(8),
        ]);
      });
    });

    describe('a retry of createOnce', () => {
      const reservation = { caller: 'caller', key: 'key' };

      test('a retry of createOnce returns the record as it was created after an update and a delete, and creates none', async () => {
        const { record } = await pets.createOnce(petWith(), reservation);
        const updated = await pets.update(record.id, { name: 'Max' });
        expect(await pets.createOnce(petWith(), reservation)).toEqual({ record, isReplay: true });
        expect((await pets.list({ limit: 10 })).records).toEqual([updated]);
        await pets.delete(record.id);
        expect(await pets.createOnce(petWith(), reservation)).toEqual({ record, isReplay: true });
        expect((await pets.list({ limit: 10 })).records).toEqual([]);
        expect(await pets.get(record.id)).toBeUndefined();
      });

      test('createOnce with values that the schema rejects does not use the key, which serves one collection', async () => {
        const invalid = pets.createOnce(petWith({ categoryId: 1.5 }), reservation);
        await expect(invalid).rejects.toEqual(storeErrorWith('invalid'));
        expect(await pets.createOnce(petWith(), reservation)).toMatchObject({ isReplay: false });
        const kinds = store.collection(categories);
        const other = kinds.createOnce({ name: 'Dogs' }, reservation);
        await expect(other).rejects.toEqual(storeErrorWith('key-reused'));
        expect((await kinds.list({ limit: 10 })).records).toEqual([]);
      });
    });

    describe('a second collection', () => {
      let kinds: Collection<Category, 'name' | 'kind' | 'size'>;
      beforeEach(() => {
        kinds = store.collection(categories);
      });

      test('each collection has its own ids', async () => {
        const { id } = await pets.create(petWith());
        const created = await kinds.create({ name: 'Dogs' });
        expect(created).toEqual({ id, version: 1, name: 'Dogs' });
        expect(await pets.get(id)).toEqual({ id, name: 'Rex', categoryId: 1 });
      });

      test.for([
        ['a unique field', 'name', 'Dogs'],
        ['a string of 5,000 characters', 'kind', 'x'.repeat(5_000)],
        ['an empty string', 'kind', ''],
        ['a negative fraction', 'size', -0.5],
        ['an integer beyond 32 bits', 'size', 2 ** 40],
      ] as const)('list filters by %s', async ([, field, value]) => {
        const created = await kinds.create({ name: 'a name', [field]: value });
        await kinds.create({ name: 'another', kind: 'x'.repeat(5_001), size: 1 });
        expect(await kinds.list({ limit: 10, where: { [field]: value } })).toEqual({
          records: [created],
          hasNext: false,
        });
      });

      test('list rejects a filter by a field without an index, or by two fields, with a TypeError', async () => {
        const where = [{ note: 'x' }, { name: 'Dogs', kind: 'pet' }] as object[];
        for (const each of where) {
          const error = { name: 'TypeError', message: expect.stringContaining('one of its indexes') };
          await expect(promiseOf(() => kinds.list({ limit: 1, where: each }))).rejects.toMatchObject(error);
        }
      });

      test('one of ten concurrent creates with a unique value succeeds, and createOnce and update reject it too', async () => {
        const creates = Array.from({ length: 10 }, () => kinds.create({ name: 'Dogs' }));
        const results = await Promise.allSettled(creates);
        const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
        expect(reasons).toEqual(Array.from({ length: 9 }, () => storeErrorWith('conflict')));
        const cats = await kinds.create({ name: 'Cats' });
        await expect(kinds.create({ name: 'Dogs' })).rejects.toEqual(storeErrorWith('conflict'));
        await expect(kinds.update(cats.id, { name: 'Dogs' })).rejects.toEqual(storeErrorWith('conflict'));
        const once = kinds.createOnce({ name: 'Dogs' }, { caller: 'caller', key: 'key' });
        await expect(once).rejects.toEqual(storeErrorWith('conflict'));
        const { records } = await kinds.list({ limit: 20 });
        expect(records).toEqual([{ id: expect.any(Number), version: 1, name: 'Dogs' }, cats]);
        const id = records[0]?.id ?? 0;
        expect(await kinds.update(id, { name: 'Dogs' })).toMatchObject({ name: 'Dogs' });
      });

      test('update and delete free a unique value', async () => {
        const [one, other] = [await kinds.create({ name: 'Dogs' }), await kinds.create({ name: 'Cats' })];
        await kinds.update(one.id, { name: 'Hounds' });
        await kinds.update(other.id, { name: 'Dogs' });
        await kinds.delete(other.id);
        expect(await kinds.create({ name: 'Dogs' })).toMatchObject({ name: 'Dogs' });
      });

      test('update with null stores null in a nullable field, and removes another optional field and its index entry', async () => {
        const { id } = await kinds.create({ name: 'Dogs', note: 'a', size: 1 });
        const updated = await kinds.update(id, { note: null, size: null });
        expect(updated).toEqual({ id, version: 2, name: 'Dogs', note: null });
        const stored = await kinds.get(id);
        expect(stored).toEqual(updated);
        expect(Object.keys(stored ?? {})).not.toContain('size');
        expect((await kinds.list({ limit: 10, where: { size: 1 } })).records).toEqual([]);
      });

      test('update increments the version, and update and delete with ifVersion require it', async () => {
        const { id, version } = await kinds.create({ name: 'Dogs' });
        const noted = await kinds.update(id, { note: 'a', version: 9 } as object, { ifVersion: version });
        expect(noted).toEqual({ id, version: 2, name: 'Dogs', note: 'a' });
        const late = kinds.update(id, { note: 'b' }, { ifVersion: version });
        await expect(late).rejects.toEqual(storeErrorWith('version-mismatch'));
        await expect(kinds.delete(id, { ifVersion: 1 })).rejects.toEqual(storeErrorWith('version-mismatch'));
        expect(await kinds.get(id)).toEqual(noted);
        expect(await kinds.delete(id, { ifVersion: 2 })).toBe(true);
        expect(await kinds.update(id, { note: 'c' }, { ifVersion: 2 })).toBeUndefined();
        expect(await kinds.delete(id, { ifVersion: 2 })).toBe(false);
      });

      test('one of ten concurrent updates with the same ifVersion succeeds, and all without it', async () => {
        const { id, version } = await kinds.create({ name: 'Dogs' });
        const updates = (options?: { readonly ifVersion: number }) =>
          Array.from({ length: 10 }, (_, each) => kinds.update(id, { size: each }, options));
        const results = await Promise.allSettled(updates({ ifVersion: version }));
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        expect(await kinds.get(id)).toMatchObject({ version: 2 });
        await Promise.all(updates());
        expect(await kinds.get(id)).toMatchObject({ version: 12 });
      });

      test('update and delete reject ifVersion for a schema without version, and store nothing', async () => {
        const created = await pets.create(petWith());
        const ifVersion = { ifVersion: 1 } as object;
        await expect(pets.update(created.id, { name: 'Max' }, ifVersion)).rejects.toThrow(
          'needs a field "version"',
        );
        await expect(pets.delete(created.id, ifVersion)).rejects.toThrow('needs a field "version"');
        expect(await pets.get(created.id)).toEqual(created);
      });

      test('collection() throws for a definition that the store was opened without', () => {
        const other = defineCollection({ name: 'others', schema: Category, id: 'sequence' });
        expect(() => store.collection(other)).toThrow('The store was opened without the collection others');
      });
    });

    describe('keys', () => {
      test('keys.touch keeps the latest use, and keys.revoke the first revocation, also of an expired key', async () => {
        const fresh = keyRecord();
        await store.keys.add(fresh);
        // Without the optional fields.
        expect(Object.keys((await store.keys.find(fresh.hash)) ?? {}).toSorted()).toEqual(
          Object.keys(fresh).toSorted(),
        );
        const record = keyRecord({ name: 'deploy', expiresAt: 1_700_000_000_000 });
        await store.keys.add(record);
        expect(await store.keys.find(record.hash)).toEqual(record);
        for (const usedAt of [5, 9, 7]) await store.keys.touch(record.hash, usedAt);
        await store.keys.touch('unknown', 1);
        const marked = { ...record, lastUsedAt: 9, revokedAt: 8 };
        for (const revokedAt of [8, 10]) expect(await store.keys.revoke('deploy', revokedAt)).toEqual(marked);
        expect(await store.keys.revoke('unknown', 9)).toBeUndefined();
        expect(await store.keys.find('unknown')).toBeUndefined();
        expect(await store.keys.find(record.hash)).toEqual(marked);
        expect(await (await reopen()).keys.list()).toEqual([fresh, marked]);
      });

      test('keys.list returns keys in the order in which they were added', async () => {
        const records = ['b', 'c', 'a', 'Ä', '😀'.repeat(32), '\u0000'].map((label) =>
          keyRecord({ name: label, createdAt: 1 }),
        );
        for (const record of records) await store.keys.add(record);
        expect(await store.keys.list()).toEqual(records);
        expect(await (await reopen()).keys.list()).toEqual(records);
      });

      test('one of ten concurrent calls of keys.add with the same name succeeds, and none after its key was revoked', async () => {
        const add = () => store.keys.add(keyRecord({ name: 'deploy' }));
        const results = await Promise.allSettled(Array.from({ length: 10 }, add));
        const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
        expect(reasons).toEqual(Array.from({ length: 9 }, () => storeErrorWith('conflict')));
        expect(await store.keys.list()).toHaveLength(1);
        expect(await store.keys.addFirst(keyRecord())).toBe(false);
        const revoked = await store.keys.revoke('deploy', 5);
        await expect(add()).rejects.toEqual(storeErrorWith('conflict'));
        expect(await store.keys.list()).toEqual([revoked]);
      });

      test('keys.addFirst returns true for one of 20 concurrent calls and its retries, and false afterwards', async () => {
        const records = Array.from({ length: 20 }, () => keyRecord());
        const added = await Promise.all(records.map((record) => store.keys.addFirst(record)));
        expect(added.filter(Boolean)).toHaveLength(1);
        const first = records[added.indexOf(true)];
        expect(await store.keys.list()).toEqual([first]);
        expect(await store.keys.addFirst(keyRecord())).toBe(false);
        // A retry after a lost response.
        expect(await store.keys.addFirst(first ?? keyRecord())).toBe(true);

        await store.keys.revoke(first?.name ?? '', 5);
        expect(await store.keys.addFirst(keyRecord())).toBe(false);
        expect(await (await reopen()).keys.addFirst(keyRecord())).toBe(false);
        expect(await store.keys.list()).toHaveLength(1);
      });
    });

    describe('an aborted signal', () => {
      const reason = new Error('aborted');
      const signal = AbortSignal.abort(reason);

      test('a call with an aborted signal fails with its reason, unless it returns at once, and stores nothing', async () => {
        const { id } = await pets.create(petWith());
        await expect(pets.create(petWith(), { signal })).rejects.toBe(reason);
        const reads = [
          pets.get(id, { signal }),
          pets.list({ limit: 1 }, { signal }),
          store.keys.find('hash', { signal }),
        ].filter((read) => read instanceof Promise);
        const failed = { status: 'rejected', reason };
        expect(await Promise.allSettled(reads)).toEqual(reads.map(() => failed));
        expect((await pets.list({ limit: 20 })).records).toHaveLength(1);
      });

      test('an abort during create rejects with its reason, or the create succeeds', async () => {
        const controller = new AbortController();
        const creates = Array.from({ length: 20 }, () =>
          pets.create(petWith(), { signal: controller.signal }),
        );
        controller.abort(reason);
        const results = await Promise.allSettled(creates);
        const stored = (await pets.list({ limit: 100 })).records;
        const created = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
        const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
        expect(stored).toEqual(expect.arrayContaining(created));
        expect(reasons.every((each) => each === reason)).toBe(true);
      });
    });

    describe('close', () => {
      test('close waits for unfinished writes', async () => {
        const creates = Array.from({ length: 50 }, () => pets.create(petWith()));
        await store.close();
        const created = await Promise.all(creates);
        const stored = (await (await openAgain()).collection(animals).list({ limit: 100 })).records;
        expect(stored).toEqual(created.toSorted((one, other) => one.id - other.id));
      });

      test('close can be called repeatedly, and calls after it fail with closed', async () => {
        await expect(promiseOf(() => store.ready())).resolves.toBeUndefined();
        await Promise.all([store.close(), store.close()]);
        await expect(store.close()).resolves.toBeUndefined();
        const calls: (() => MaybePromise<unknown>)[] = [
          () => pets.create(petWith()),
          () => pets.createOnce(petWith(), { caller: '', key: 'key' }),
          () => pets.get(1),
          () => pets.list({ limit: 1 }),
          () => pets.update(1, { name: 'Max' }),
          () => pets.delete(1),
          () => store.ready(),
          () => store.keys.find('hash'),
          () => store.keys.add(keyRecord()),
          () => store.keys.addFirst(keyRecord()),
          () => store.keys.list(),
          () => store.keys.revoke('name', 1),
          () => store.keys.touch('hash', 1),
        ];
        for (const call of calls) await expect(promiseOf(call)).rejects.toEqual(storeErrorWith('closed'));
      });
    });
  });
}
