import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type Animal, animals, type NewPet, PetStatus } from '../procedures/animals.ts';
import { defineCollection } from './collection.ts';
import type { MaybePromise, Collection, KeyRecord, ListQuery, Reservation, Store } from './store.ts';

/** With which `maxReservations` each store is opened. */
export const contractReservations = 30;

/** A collection that has what `animals` has not: versions, a unique index, an optional index, nested values. */
const Category = z.object({
  id: z.int(),
  version: z.int(),
  name: z.string().min(1),
  kind: z.string().exactOptional(),
  size: z.number().exactOptional(),
  note: z.string().nullable().exactOptional(),
  tags: z.array(z.object({ tag: z.string() })).exactOptional(),
});
type Category = z.output<typeof Category>;

const categories = defineCollection({
  name: 'categories',
  schema: Category,
  id: 'sequence',
  indexes: [{ field: 'name', unique: true }, 'kind', 'size'],
});

/** With which `collections` each store is opened. */
export const contractCollections = [animals, categories];

/** One store on data of its own, empty at first. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Opens the same data again, as another process would after the first has closed its store. */
  reopen(): Promise<Store>;
  /** Closes what is open and removes the data. */
  cleanup(): Promise<void>;
}

/** Where stores differ. All else that the port promises is the same for all. */
export interface StoreCapabilities {
  /** Ids are 1, 2, 3 …, in the order in which animals were acknowledged, over all processes. */
  readonly gaplessIds: boolean;
}

const pet = (more: Partial<NewPet> = {}): NewPet => ({ name: 'Rex', categoryId: 1, ...more });

let made = 0;
const keyRecord = (more: Partial<KeyRecord> = {}): KeyRecord => {
  made++;
  const hash = createHash('sha256').update(`key ${made}`).digest('base64url');
  return { hash, name: `key ${made}`, createdAt: 1_700_000_000_000 + made, ...more };
};

/** What a call does, whether it answers now or later, throws or rejects. */
const outcome = async <T>(call: () => MaybePromise<T>): Promise<T> => call();

const storeError = (code: string) => expect.objectContaining({ name: 'StoreError', code });

/** Every page of a walk. */
async function walk(store: Store, limit: number, status?: PetStatus): Promise<Animal[][]> {
  const pages: Animal[][] = [];
  for (let cursor: number | undefined; ; cursor = pages.at(-1)?.at(-1)?.id) {
    const { records, hasNext } = await store.collection(animals).list({ limit, where: { status }, cursor });
    pages.push(records);
    if (!hasNext) return pages;
  }
}

/** What `list` must answer, from a plain array in ascending order of id. */
function expectedPage(
  all: readonly Animal[],
  { limit, where: { status } = {}, cursor }: ListQuery<Animal, 'status'>,
) {
  const fitting = all.filter(
    (animal) =>
      (status === undefined || animal.status === status) && (cursor === undefined || animal.id > cursor),
  );
  return { records: fitting.slice(0, limit), hasNext: fitting.length > limit };
}

/** The suite that every store passes. Call it in a test file. */
export function storeContract(
  name: string,
  open: () => Promise<StoreUnderTest>,
  capabilities: StoreCapabilities,
): void {
  describe(`the store contract: ${name}`, () => {
    let subject: StoreUnderTest;
    let store: Store;
    let pets: Collection<Animal, 'status'>;

    beforeEach(async () => {
      subject = await open();
      store = subject.store;
      pets = store.collection(animals);
    });
    afterEach(() => subject.cleanup());

    async function reopen(): Promise<Store> {
      await store.close();
      store = await subject.reopen();
      pets = store.collection(animals);
      return store;
    }

    describe('animals', () => {
      const names = {
        'an empty name': '',
        'a name of U+0000': '\u0000',
        'a name with U+0000 in it': 'a\u0000b\u0000',
        'an emoji of several code points': '👩‍🚒🐕‍🦺',
        'a composed letter (NFC)': '\u00e9',
        'a decomposed letter (NFD)': 'e\u0301',
        'spaces and line ends around it': ' \r\n Rex\t ',
        'a byte order mark': '\ufeffRex',
        'the last code points': '\uffff\u{10ffff}',
        'right-to-left text': 'כלב כלב',
        'a name of Object.prototype': '__proto__',
        'a name of 1 MB': 'ü'.repeat(524_288),
      };
      test.for(Object.entries(names))('%s comes back unchanged', async ([, text]) => {
        const created = await pets.create(pet({ name: text }));
        expect(created.name === text).toBe(true);
        const got = await pets.get(created.id);
        expect(got?.name === text).toBe(true);
        const { records } = await pets.list({ limit: 1 });
        expect(records[0]?.name === text).toBe(true);
        const reopened = await (await reopen()).collection(animals).get(created.id);
        expect(reopened?.name === text).toBe(true);
      });

      test.for([0, -1, 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
        'categoryId %d comes back unchanged',
        async (categoryId) => {
          const created = await pets.create(pet({ categoryId }));
          expect(created.categoryId).toBe(categoryId);
          expect(await pets.get(created.id)).toEqual(created);
        },
      );

      test.for(PetStatus.options)('status %s comes back', async (status) => {
        const created = await pets.create(pet({ status }));
        expect(created).toEqual({ id: created.id, name: 'Rex', categoryId: 1, status });
        expect(await pets.get(created.id)).toEqual(created);
      });

      test('a status that is absent stays absent', async () => {
        const created = await pets.create(pet());
        const got = await pets.get(created.id);
        const { records } = await pets.list({ limit: 1 });
        for (const animal of [created, got, records[0]])
          expect(Object.keys(animal ?? {})).not.toContain('status');
      });

      test('what is no field of an animal is not stored', async () => {
        const created = await pets.create({ ...pet(), id: 77, owner: 'me' } as NewPet);
        expect(created).toEqual({ id: created.id, name: 'Rex', categoryId: 1 });
        expect(await pets.get(created.id)).toEqual(created);
      });

      test('ids are positive safe integers, ascend, and are never given again after reopening', async () => {
        const ids: number[] = [];
        for (let round = 0; round < 3; round++) {
          for (let count = 0; count < 3; count++) ids.push((await pets.create(pet())).id);
          await reopen();
        }
        expect(ids.every((id) => Number.isSafeInteger(id) && id > 0)).toBe(true);
        expect(new Set(ids).size).toBe(9);
        expect(ids).toEqual(ids.toSorted((one, other) => one - other));
      });

      test.runIf(capabilities.gaplessIds)('ids have no gaps', async () => {
        const first = await Promise.all([pets.create(pet()), pets.create(pet())]);
        const third = await (await reopen()).collection(animals).create(pet());
        expect([...first, third].map(({ id }) => id)).toEqual([1, 2, 3]);
      });

      test('200 creates at once are 200 animals', async () => {
        const created = await Promise.all(
          Array.from({ length: 200 }, (_, index) => pets.create(pet({ name: `animal ${index}` }))),
        );
        expect(new Set(created.map(({ id }) => id)).size).toBe(200);
        const stored = (await walk(store, 100)).flat();
        expect(stored).toEqual(created.toSorted((one, other) => one.id - other.id));
      });

      test('an animal is seen by get and list as soon as its create has resolved', async () => {
        for (let round = 0; round < 20; round++) {
          const [created] = await Promise.all([
            pets.create(pet({ status: 'sold' })).then(async (animal) => {
              expect(await pets.get(animal.id)).toEqual(animal);
              expect((await pets.list({ limit: 1, cursor: animal.id - 1 })).records).toEqual([animal]);
              expect(
                (await pets.list({ limit: 1, cursor: animal.id - 1, where: { status: 'sold' } })).records,
              ).toEqual([animal]);
              return animal;
            }),
            outcome(() => pets.list({ limit: 100 })),
          ]);
          expect(created.id).toBeGreaterThan(0);
        }
      });

      test.for([0, -1, 999_999, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
        'there is no animal %d',
        async (id) => {
          await pets.create(pet());
          expect(await pets.get(id)).toBeUndefined();
        },
      );
    });

    describe('a create that must happen once', () => {
      const reservation = (more: Partial<Reservation> = {}): Reservation => ({
        caller: 'caller',
        key: 'key',
        ...more,
      });
      const count = async () => (await pets.list({ limit: 100 })).records.length;

      test('stores the animal, and a repeat gives it again', async () => {
        const first = await pets.createOnce(pet({ status: 'sold' }), reservation());
        expect(first).toEqual({ record: await pets.get(first.record.id), isReplay: false });
        const again = await pets.createOnce(pet({ status: 'sold' }), reservation());
        expect(again).toEqual({ record: first.record, isReplay: true });
        expect(await count()).toBe(1);
      });

      test('happens once among 50 calls at the same time', async () => {
        const calls = Array.from({ length: 50 }, () => pets.createOnce(pet(), reservation()));
        const created = await Promise.all(calls);
        expect(new Set(created.map(({ record }) => record.id)).size).toBe(1);
        expect(created.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
        expect(await count()).toBe(1);
      });

      test('is known as one after reopening', async () => {
        const { record } = await pets.createOnce(pet(), reservation());
        await reopen();
        expect(await pets.createOnce(pet(), reservation())).toEqual({ record, isReplay: true });
      });

      test('is refused under a key that was used with another input, and stores nothing', async () => {
        await pets.createOnce(pet(), reservation());
        const other = pets.createOnce(pet({ name: 'Max' }), reservation());
        await expect(other).rejects.toEqual(storeError('key-reused'));
        expect(await count()).toBe(1);
      });

      test.for([
        { key: 'another' },
        { caller: 'another' },
        { caller: 'call', key: 'erkey' },
        { key: '~'.repeat(255) },
      ])('is another under %j', async (more) => {
        await pets.createOnce(pet(), reservation());
        expect(await pets.createOnce(pet(), reservation(more))).toMatchObject({ isReplay: false });
        expect(await count()).toBe(2);
      });

      test('is known again under its key though its categoryId was -0', async () => {
        const { record } = await pets.createOnce(pet({ categoryId: -0 }), reservation());
        const repeat = await pets.createOnce(pet({ categoryId: -0 }), reservation());
        expect(repeat.record.id).toBe(record.id);
        expect(await count()).toBe(1);
      });

      test('is forgotten after 24 hours, and not before', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        try {
          const { record } = await pets.createOnce(pet(), reservation());
          vi.setSystemTime(Date.now() + 24 * 3_600_000 - 1);
          expect(await pets.createOnce(pet(), reservation())).toEqual({ record, isReplay: true });
          vi.setSystemTime(Date.now() + 1);
          expect(await pets.createOnce(pet(), reservation())).toMatchObject({ isReplay: false });
          expect(await pets.createOnce(pet(), reservation())).toMatchObject({ isReplay: true });
          expect(await count()).toBe(2);
        } finally {
          vi.useRealTimers();
        }
      });

      test('is rejected where the caller has used too many keys; its repeats and other callers are served', async () => {
        const once = (key: number) => pets.createOnce(pet(), reservation({ key: `key ${key}` }));
        for (let key = 1; key <= contractReservations; key++) await once(key);
        const error: unknown = await once(0).catch((reason: unknown) => reason);
        expect(error).toEqual(storeError('too-many-reservations'));
        // Between 24 and 25 hours: what was made expires then.
        const { retryAfterSeconds } = z.object({ retryAfterSeconds: z.number() }).parse(error);
        expect(retryAfterSeconds).toBeGreaterThan(23.9 * 3_600);
        expect(retryAfterSeconds).toBeLessThanOrEqual(25 * 3_600);
        expect(await once(1)).toMatchObject({ isReplay: true });
        await expect(pets.createOnce(pet(), reservation({ caller: 'other' }))).resolves.toMatchObject({
          isReplay: false,
        });
        await reopen();
        await expect(once(0)).rejects.toEqual(storeError('too-many-reservations'));
        expect(await count()).toBe(contractReservations + 1);
      });

      test('is served again after a day where the caller had used too many keys', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        try {
          const once = (key: string) => pets.createOnce(pet(), reservation({ key }));
          for (let key = 1; key <= contractReservations; key++) await once(`key ${key}`);
          await expect(once('one more')).rejects.toEqual(storeError('too-many-reservations'));
          vi.setSystemTime(Date.now() + 25 * 3_600_000);
          expect(await once('one more')).toMatchObject({ isReplay: false });
        } finally {
          vi.useRealTimers();
        }
      });

      test('is known again under a key that was forgotten, whatever is cleared away meanwhile', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        try {
          const once = (key: string) => pets.createOnce(pet(), reservation({ key }));
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
        } finally {
          vi.useRealTimers();
        }
      });
    });

    describe('list', () => {
      test('of nothing is empty', async () => {
        expect(await pets.list({ limit: 20 })).toEqual({ records: [], hasNext: false });
        expect(await pets.list({ limit: 20, where: { status: 'sold' } })).toEqual({
          records: [],
          hasNext: false,
        });
      });

      test('is in ascending order of id, over several reopenings', async () => {
        for (let round = 0; round < 3; round++) {
          await Promise.all(Array.from({ length: 10 }, () => pets.create(pet())));
          await reopen();
        }
        const ids = (await pets.list({ limit: 100 })).records.map(({ id }) => id);
        expect(ids).toHaveLength(30);
        expect(ids).toEqual(ids.toSorted((one, other) => one - other));
      });

      test('hasNext is false exactly where the last animal is on the page', async () => {
        const all: Animal[] = [];
        for (let count = 0; count < 5; count++) all.push(await pets.create(pet({ status: 'pending' })));
        await pets.create(pet({ status: 'sold' }));
        for (const limit of [1, 4, 5, 6, 100]) {
          expect(await pets.list({ limit, where: { status: 'pending' } })).toEqual({
            records: all.slice(0, limit),
            hasNext: limit < 5,
          });
        }
      });

      test('a status that one animal in 500 has is found, and nothing else', async () => {
        const creates = Array.from({ length: 500 }, (_, index) =>
          pets.create(pet(index === 250 ? { status: 'pending' } : { status: 'available' })),
        );
        const rare = (await Promise.all(creates))[250];
        expect(await pets.list({ limit: 100, where: { status: 'pending' } })).toEqual({
          records: [rare],
          hasNext: false,
        });
      });

      test('the cursor is exclusive, and any integer', async () => {
        const [first, second] = [await pets.create(pet()), await pets.create(pet())];
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

      test('pages and walks are those of a plain array, whatever the statuses, limits and cursors', async () => {
        const all: Animal[] = [];
        const status = fc.constantFrom(undefined, ...PetStatus.options);
        const query = fc.record({
          limit: fc.integer({ min: 1, max: 100 }),
          status,
          // An index into what is stored, and how far from that id.
          near: fc.option(fc.tuple(fc.nat(200), fc.integer({ min: -1, max: 1 }))),
        });
        await fc.assert(
          fc.asyncProperty(
            fc.array(status, { maxLength: 12 }),
            fc.array(query, { maxLength: 8 }),
            async (statuses, queries) => {
              for (const each of statuses) {
                all.push(await pets.create(each === undefined ? pet() : pet({ status: each })));
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
      test('changes the fields it names and returns the whole record', async () => {
        const { id } = await pets.create(pet({ status: 'available' }));
        const updated = await pets.update(id, { name: 'Max', status: undefined });
        expect(updated).toEqual({ id, name: 'Max', categoryId: 1, status: 'available' });
        expect(await pets.get(id)).toEqual(updated);
        expect(await (await reopen()).collection(animals).get(id)).toEqual(updated);
      });

      test('moves the record in its indexes', async () => {
        const { id } = await pets.create(pet({ status: 'available' }));
        const sold = await pets.update(id, { status: 'sold' });
        const list = async (status: PetStatus) => (await pets.list({ limit: 10, where: { status } })).records;
        expect([await list('available'), await list('sold')]).toEqual([[], [sold]]);
      });

      test('removes an optional field with null, and its entry in the index', async () => {
        const { id } = await pets.create(pet({ status: 'sold' }));
        expect(await pets.update(id, { status: null })).toEqual({ id, name: 'Rex', categoryId: 1 });
        expect(Object.keys((await pets.get(id)) ?? {})).not.toContain('status');
        expect(await pets.list({ limit: 10, where: { status: 'sold' } })).toMatchObject({ records: [] });
      });

      test('of no record returns undefined and makes none', async () => {
        expect(await pets.update(7, { name: 'Max' })).toBeUndefined();
        expect(await pets.get(7)).toBeUndefined();
      });

      test('cannot change the id, nor store what is no field', async () => {
        const { id } = await pets.create(pet());
        await pets.update(id, { id: 77, owner: 'me', name: 'Max' } as object);
        expect(await pets.get(id)).toEqual({ id, name: 'Max', categoryId: 1 });
        expect(await pets.get(77)).toBeUndefined();
      });

      test('that the schema rejects is invalid and changes nothing', async () => {
        const created = await pets.create(pet());
        const update = pets.update(created.id, { categoryId: 1.5 });
        await expect(update).rejects.toEqual(storeError('invalid'));
        await expect(pets.create(pet({ name: '\ud800' }))).rejects.toEqual(storeError('invalid'));
        expect((await pets.list({ limit: 10 })).records).toEqual([created]);
      });
    });

    describe('delete', () => {
      test('removes the record from gets and lists, also after reopening', async () => {
        const [first, second] = [await pets.create(pet({ status: 'sold' })), await pets.create(pet())];
        expect(await pets.delete(first.id)).toBe(true);
        for (let round = 0; round < 2; round++) {
          expect(await pets.get(first.id)).toBeUndefined();
          expect(await pets.list({ limit: 1 })).toEqual({ records: [second], hasNext: false });
          expect((await pets.list({ limit: 10, where: { status: 'sold' } })).records).toEqual([]);
          await reopen();
        }
      });

      test('of no record returns false', async () => {
        const { id } = await pets.create(pet());
        expect(await pets.delete(id + 1)).toBe(false);
        expect([await pets.delete(id), await pets.delete(id)]).toEqual([true, false]);
      });

      test('does not free the id', async () => {
        const { id } = await pets.create(pet());
        await pets.delete(id);
        await reopen();
        expect((await pets.create(pet())).id).toBeGreaterThan(id);
      });

      test('of one of two calls at once returns true', async () => {
        const { id } = await pets.create(pet());
        const deleted = await Promise.all([1, 2, 3].map(() => pets.delete(id)));
        expect(deleted.filter(Boolean)).toHaveLength(1);
      });

      test('leaves pages full: those of a walk through the rest', async () => {
        const ids: number[] = [];
        for (let count = 0; count < 30; count++) {
          const { record } = await pets.createOnce(pet(), { caller: `caller ${count}`, key: 'key' });
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

    describe('a repeat of a create that must happen once', () => {
      const reservation = { caller: 'caller', key: 'key' };

      test('returns the record as it was created, though it was updated since', async () => {
        const { record } = await pets.createOnce(pet(), reservation);
        const updated = await pets.update(record.id, { name: 'Max' });
        expect(await pets.createOnce(pet(), reservation)).toEqual({ record, isReplay: true });
        expect((await pets.list({ limit: 10 })).records).toEqual([updated]);
      });

      test('returns the record as it was created, and does not create it again, though it was deleted since', async () => {
        const { record } = await pets.createOnce(pet(), reservation);
        await pets.delete(record.id);
        expect(await pets.createOnce(pet(), reservation)).toEqual({ record, isReplay: true });
        expect((await pets.list({ limit: 10 })).records).toEqual([]);
        expect(await pets.get(record.id)).toBeUndefined();
      });

      test('of values that the schema rejected is not one: the key is good for others', async () => {
        const invalid = pets.createOnce(pet({ categoryId: 1.5 }), reservation);
        await expect(invalid).rejects.toEqual(storeError('invalid'));
        expect(await pets.createOnce(pet(), reservation)).toMatchObject({ isReplay: false });
      });

      test('is rejected under the key of a create in another collection', async () => {
        await pets.createOnce(pet(), reservation);
        const other = store.collection(categories).createOnce({ name: 'Dogs' }, reservation);
        await expect(other).rejects.toEqual(storeError('key-reused'));
        expect((await store.collection(categories).list({ limit: 10 })).records).toEqual([]);
      });
    });

    describe('a second collection', () => {
      let kinds: Collection<Category, 'name' | 'kind' | 'size'>;
      beforeEach(() => {
        kinds = store.collection(categories);
      });

      test('has ids of its own', async () => {
        const { id } = await pets.create(pet());
        const created = await kinds.create({ name: 'Dogs' });
        expect(created).toEqual({ id, version: 1, name: 'Dogs' });
        expect(await pets.get(id)).toEqual({ id, name: 'Rex', categoryId: 1 });
      });

      test('keeps nested values, numbers that are no integers, and null', async () => {
        const values = { name: 'Dogs', size: 0.1, note: null, tags: [{ tag: 'a\u0000' }, { tag: '😀' }] };
        const created = await kinds.create(values);
        expect(created).toEqual({ id: created.id, version: 1, ...values });
        expect(await (await reopen()).collection(categories).get(created.id)).toEqual(created);
      });

      test.for([
        ['name', 'Dogs'],
        ['kind', 'x'.repeat(5_000)],
        ['kind', ''],
        ['size', -0.5],
        ['size', 2 ** 40],
      ] as const)('lists by %s', async ([field, value]) => {
        const created = await kinds.create({ name: 'a name', [field]: value });
        await kinds.create({ name: 'another', kind: 'x'.repeat(5_001), size: 1 });
        expect(await kinds.list({ limit: 10, where: { [field]: value } })).toEqual({
          records: [created],
          hasNext: false,
        });
      });

      test('rejects a list by a field without an index, or by two fields', async () => {
        const where = [{ note: 'x' }, { name: 'Dogs', kind: 'pet' }] as object[];
        for (const each of where) {
          await expect(outcome(() => kinds.list({ limit: 1, where: each }))).rejects.toThrow(
            'one of its indexes',
          );
        }
      });

      test('rejects a second record with the same unique value, and stores nothing', async () => {
        const dogs = await kinds.create({ name: 'Dogs' });
        const cats = await kinds.create({ name: 'Cats' });
        await expect(kinds.create({ name: 'Dogs' })).rejects.toEqual(storeError('conflict'));
        await expect(kinds.update(cats.id, { name: 'Dogs' })).rejects.toEqual(storeError('conflict'));
        const once = kinds.createOnce({ name: 'Dogs' }, { caller: 'caller', key: 'key' });
        await expect(once).rejects.toEqual(storeError('conflict'));
        expect((await kinds.list({ limit: 10 })).records).toEqual([dogs, cats]);
        expect(await kinds.update(dogs.id, { name: 'Dogs' })).toMatchObject({ name: 'Dogs' });
      });

      test('of ten records with one unique value that are created at once stores one', async () => {
        const creates = Array.from({ length: 10 }, () => kinds.create({ name: 'Dogs' }));
        const results = await Promise.allSettled(creates);
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
        expect(reasons).toEqual(Array.from({ length: 9 }, () => storeError('conflict')));
        expect((await kinds.list({ limit: 20 })).records).toHaveLength(1);
      });

      test('frees a unique value with a delete or an update', async () => {
        const [one, other] = [await kinds.create({ name: 'Dogs' }), await kinds.create({ name: 'Cats' })];
        await kinds.update(one.id, { name: 'Hounds' });
        await kinds.update(other.id, { name: 'Dogs' });
        await kinds.delete(other.id);
        expect(await kinds.create({ name: 'Dogs' })).toMatchObject({ name: 'Dogs' });
      });

      test('counts the changes of a record in its version', async () => {
        const { id } = await kinds.create({ name: 'Dogs' });
        await kinds.update(id, { note: 'a' });
        expect(await kinds.update(id, { note: 'b' })).toEqual({ id, version: 3, name: 'Dogs', note: 'b' });
        await kinds.update(id, { version: 9 } as object);
        expect(await kinds.get(id)).toMatchObject({ version: 4 });
      });

      test('changes and deletes a record only where it has the version that is expected', async () => {
        const { id, version } = await kinds.create({ name: 'Dogs' });
        expect(await kinds.update(id, { note: 'a' }, { ifVersion: version })).toMatchObject({ version: 2 });
        const late = kinds.update(id, { note: 'b' }, { ifVersion: version });
        await expect(late).rejects.toEqual(storeError('version-mismatch'));
        await expect(kinds.delete(id, { ifVersion: 1 })).rejects.toEqual(storeError('version-mismatch'));
        expect(await kinds.get(id)).toMatchObject({ note: 'a' });
        expect(await kinds.delete(id, { ifVersion: 2 })).toBe(true);
        expect(await kinds.update(id, { note: 'c' }, { ifVersion: 2 })).toBeUndefined();
        expect(await kinds.delete(id, { ifVersion: 2 })).toBe(false);
      });

      test('of ten changes at once from one version makes one', async () => {
        const { id, version } = await kinds.create({ name: 'Dogs' });
        const results = await Promise.allSettled(
          Array.from({ length: 10 }, (_, each) => kinds.update(id, { size: each }, { ifVersion: version })),
        );
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        expect(await kinds.get(id)).toMatchObject({ version: 2 });
      });

      test('of ten changes at once without a version makes all', async () => {
        const { id } = await kinds.create({ name: 'Dogs' });
        await Promise.all(Array.from({ length: 10 }, (_, each) => kinds.update(id, { size: each })));
        expect(await kinds.get(id)).toMatchObject({ version: 11 });
      });

      test('rejects a version that is expected of records without one, and stores nothing', async () => {
        const created = await pets.create(pet());
        const ifVersion = { ifVersion: 1 } as object;
        await expect(pets.update(created.id, { name: 'Max' }, ifVersion)).rejects.toThrow(
          'needs a field "version"',
        );
        await expect(pets.delete(created.id, ifVersion)).rejects.toThrow('needs a field "version"');
        expect(await pets.get(created.id)).toEqual(created);
      });

      test('is not that of another definition', () => {
        const other = defineCollection({ name: 'others', schema: Category, id: 'sequence' });
        expect(() => store.collection(other)).toThrow('The store was opened without the collection others');
      });
    });

    describe('keys', () => {
      test('a key that was added is found by its hash, also after reopening', async () => {
        const record = keyRecord();
        await store.keys.add(record);
        expect(await store.keys.find(record.hash)).toEqual(record);
        expect(await (await reopen()).keys.find(record.hash)).toEqual(record);
      });

      test('a key keeps when it expires, also past that, whatever else is noted of it', async () => {
        const record = keyRecord({ name: 'deploy', expiresAt: 1_700_000_000_000 });
        await store.keys.add(record);
        expect(await store.keys.find(record.hash)).toEqual(record);
        await store.keys.touch(record.hash, 5);
        await store.keys.revoke('deploy', 9);
        const marked = { ...record, lastUsedAt: 5, revokedAt: 9 };
        expect(await (await reopen()).keys.list()).toEqual([marked]);
        const first = keyRecord();
        await store.keys.add(first);
        expect(await store.keys.find(first.hash)).not.toHaveProperty('expiresAt');
      });

      test('a hash that no key has finds nothing', async () => {
        await store.keys.add(keyRecord());
        expect(await store.keys.find(keyRecord().hash)).toBeUndefined();
      });

      test('keys are listed in the order in which they were added', async () => {
        const records = ['b', 'c', 'a', 'Ä', '😀'.repeat(32), '\u0000'].map((label) =>
          keyRecord({ name: label, createdAt: 1 }),
        );
        for (const record of records) await store.keys.add(record);
        expect(await store.keys.list()).toEqual(records);
        expect(await (await reopen()).keys.list()).toEqual(records);
      });

      test('a name that is taken is a conflict, and the first key stays', async () => {
        const first = keyRecord({ name: 'deploy' });
        await store.keys.add(first);
        await expect(store.keys.add(keyRecord({ name: 'deploy' }))).rejects.toEqual(storeError('conflict'));
        expect(await store.keys.list()).toEqual([first]);
      });

      test('a revoked key keeps its name, and the name stays taken', async () => {
        await store.keys.add(keyRecord({ name: 'deploy' }));
        await store.keys.revoke('deploy', 5);
        await expect(store.keys.add(keyRecord({ name: 'deploy' }))).rejects.toEqual(storeError('conflict'));
      });

      test('of ten keys with one name that are added at once, one is', async () => {
        const records = Array.from({ length: 10 }, () => keyRecord({ name: 'deploy' }));
        const results = await Promise.allSettled(records.map((record) => store.keys.add(record)));
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        expect(await store.keys.list()).toHaveLength(1);
      });

      test('revoking marks the key, and revoking again changes nothing', async () => {
        const record = keyRecord({ name: 'deploy' });
        await store.keys.add(record);
        expect(await store.keys.revoke('deploy', 5)).toEqual({ ...record, revokedAt: 5 });
        expect(await store.keys.revoke('deploy', 9)).toEqual({ ...record, revokedAt: 5 });
        expect(await store.keys.find(record.hash)).toEqual({ ...record, revokedAt: 5 });
        expect(await (await reopen()).keys.list()).toEqual([{ ...record, revokedAt: 5 }]);
      });

      test('a name that no key has cannot be revoked', async () => {
        expect(await store.keys.revoke('deploy', 5)).toBeUndefined();
      });

      test('of many that add the first key at once, one does, and after it nobody', async () => {
        const records = Array.from({ length: 20 }, () => keyRecord());
        const added = await Promise.all(records.map((record) => store.keys.addFirst(record)));
        expect(added.filter(Boolean)).toHaveLength(1);
        const first = records[added.indexOf(true)];
        expect(await store.keys.list()).toEqual([first]);
        expect(await store.keys.addFirst(keyRecord())).toBe(false);
        // Whoever heard no answer asks again.
        expect(await store.keys.addFirst(first ?? keyRecord())).toBe(true);

        await store.keys.revoke(first?.name ?? '', 5);
        expect(await store.keys.addFirst(keyRecord())).toBe(false);
        expect(await (await reopen()).keys.addFirst(keyRecord())).toBe(false);
        expect(await store.keys.list()).toHaveLength(1);
      });

      test('keep the latest use that they were told of', async () => {
        const record = keyRecord();
        await store.keys.add(record);
        expect((await store.keys.list())[0]).not.toHaveProperty('lastUsedAt');
        for (const usedAt of [5, 9, 7]) await store.keys.touch(record.hash, usedAt);
        expect(await store.keys.list()).toEqual([{ ...record, lastUsedAt: 9 }]);
        await store.keys.revoke(record.name, 8);
        expect(await store.keys.find(record.hash)).toEqual({ ...record, lastUsedAt: 9, revokedAt: 8 });
      });

      test('a use of a key that is not there is no fault, and adds none', async () => {
        await store.keys.touch('nobody', 1);
        expect(await store.keys.list()).toEqual([]);
      });

      test('where a key was added there is no first key to add', async () => {
        await store.keys.add(keyRecord());
        expect(await store.keys.addFirst(keyRecord())).toBe(false);
      });
    });

    describe('an abort', () => {
      const reason = new Error('nobody waits');
      const signal = AbortSignal.abort(reason);

      test('before the call fails it with the reason, and stores nothing', async () => {
        const { id } = await pets.create(pet());
        await expect(pets.create(pet(), { signal })).rejects.toBe(reason);
        await expect(outcome(() => pets.get(id, { signal }))).rejects.toBe(reason);
        await expect(outcome(() => pets.list({ limit: 1 }, { signal }))).rejects.toBe(reason);
        await expect(outcome(() => store.keys.find('hash', { signal }))).rejects.toBe(reason);
        expect((await pets.list({ limit: 20 })).records).toHaveLength(1);
      });

      test('after the call was made fails it with the reason, or comes too late for it', async () => {
        const controller = new AbortController();
        const creates = Array.from({ length: 20 }, () => pets.create(pet(), { signal: controller.signal }));
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
      test('waits for the writes under way', async () => {
        const creates = Array.from({ length: 50 }, () => pets.create(pet()));
        await store.close();
        const created = await Promise.all(creates);
        const stored = (await (await subject.reopen()).collection(animals).list({ limit: 100 })).records;
        expect(stored).toEqual(created.toSorted((one, other) => one.id - other.id));
      });

      test('makes every later call fail as closed', async () => {
        await store.close();
        const calls: (() => MaybePromise<unknown>)[] = [
          () => pets.create(pet()),
          () => pets.createOnce(pet(), { caller: '', key: 'key' }),
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
        for (const call of calls) await expect(outcome(call)).rejects.toEqual(storeError('closed'));
      });

      test('may be called twice', async () => {
        await Promise.all([store.close(), store.close()]);
        await expect(store.close()).resolves.toBeUndefined();
      });
    });

    test('an open store is ready', async () => {
      await expect(outcome(() => store.ready())).resolves.toBeUndefined();
    });
  });
}
