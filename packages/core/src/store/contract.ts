import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type Animal, type NewPet, PetStatus } from '../schemas.ts';
import type { Awaitable, KeyRecord, ListQuery, Reservation, Store } from './store.ts';

/** With which `maxReservations` each store is opened. */
export const contractReservations = 30;

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
const outcome = async <T>(call: () => Awaitable<T>): Promise<T> => call();

const storeError = (code: string) => expect.objectContaining({ name: 'StoreError', code });

/** Every page of a walk. */
async function walk(store: Store, limit: number, status?: PetStatus): Promise<Animal[][]> {
  const pages: Animal[][] = [];
  for (let cursor: number | undefined; ; cursor = pages.at(-1)?.at(-1)?.id) {
    const { animals, hasNext } = await store.list({ limit, status, cursor });
    pages.push(animals);
    if (!hasNext) return pages;
  }
}

/** What `list` must answer, from a plain array in ascending order of id. */
function expectedPage(all: readonly Animal[], { limit, status, cursor }: ListQuery) {
  const fitting = all.filter(
    (animal) =>
      (status === undefined || animal.status === status) && (cursor === undefined || animal.id > cursor),
  );
  return { animals: fitting.slice(0, limit), hasNext: fitting.length > limit };
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

    beforeEach(async () => {
      subject = await open();
      store = subject.store;
    });
    afterEach(() => subject.cleanup());

    async function reopen(): Promise<Store> {
      await store.close();
      store = await subject.reopen();
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
        const created = await store.create(pet({ name: text }));
        expect(created.name === text).toBe(true);
        const got = await store.get(created.id);
        expect(got?.name === text).toBe(true);
        const { animals } = await store.list({ limit: 1 });
        expect(animals[0]?.name === text).toBe(true);
        const reopened = await (await reopen()).get(created.id);
        expect(reopened?.name === text).toBe(true);
      });

      test.for([0, -1, 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
        'categoryId %d comes back unchanged',
        async (categoryId) => {
          const created = await store.create(pet({ categoryId }));
          expect(created.categoryId).toBe(categoryId);
          expect(await store.get(created.id)).toEqual(created);
        },
      );

      test.for(PetStatus.options)('status %s comes back', async (status) => {
        const created = await store.create(pet({ status }));
        expect(created).toEqual({ id: created.id, name: 'Rex', categoryId: 1, status });
        expect(await store.get(created.id)).toEqual(created);
      });

      test('a status that is absent stays absent', async () => {
        const created = await store.create(pet());
        const got = await store.get(created.id);
        const { animals } = await store.list({ limit: 1 });
        for (const animal of [created, got, animals[0]])
          expect(Object.keys(animal ?? {})).not.toContain('status');
      });

      test('what is no field of an animal is not stored', async () => {
        const created = await store.create({ ...pet(), id: 77, owner: 'me' } as NewPet);
        expect(created).toEqual({ id: created.id, name: 'Rex', categoryId: 1 });
        expect(await store.get(created.id)).toEqual(created);
      });

      test('ids are positive safe integers, ascend, and are never given again after reopening', async () => {
        const ids: number[] = [];
        for (let round = 0; round < 3; round++) {
          for (let count = 0; count < 3; count++) ids.push((await store.create(pet())).id);
          await reopen();
        }
        expect(ids.every((id) => Number.isSafeInteger(id) && id > 0)).toBe(true);
        expect(new Set(ids).size).toBe(9);
        expect(ids).toEqual(ids.toSorted((one, other) => one - other));
      });

      test.runIf(capabilities.gaplessIds)('ids have no gaps', async () => {
        const first = await Promise.all([store.create(pet()), store.create(pet())]);
        const third = await (await reopen()).create(pet());
        expect([...first, third].map(({ id }) => id)).toEqual([1, 2, 3]);
      });

      test('200 creates at once are 200 animals', async () => {
        const created = await Promise.all(
          Array.from({ length: 200 }, (_, index) => store.create(pet({ name: `animal ${index}` }))),
        );
        expect(new Set(created.map(({ id }) => id)).size).toBe(200);
        const stored = (await walk(store, 100)).flat();
        expect(stored).toEqual(created.toSorted((one, other) => one.id - other.id));
      });

      test('an animal is seen by get and list as soon as its create has resolved', async () => {
        for (let round = 0; round < 20; round++) {
          const [created] = await Promise.all([
            store.create(pet({ status: 'sold' })).then(async (animal) => {
              expect(await store.get(animal.id)).toEqual(animal);
              expect((await store.list({ limit: 1, cursor: animal.id - 1 })).animals).toEqual([animal]);
              expect((await store.list({ limit: 1, cursor: animal.id - 1, status: 'sold' })).animals).toEqual(
                [animal],
              );
              return animal;
            }),
            outcome(() => store.list({ limit: 100 })),
          ]);
          expect(created.id).toBeGreaterThan(0);
        }
      });

      test.for([0, -1, 999_999, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
        'there is no animal %d',
        async (id) => {
          await store.create(pet());
          expect(await store.get(id)).toBeUndefined();
        },
      );
    });

    describe('a create that must happen once', () => {
      const reservation = (more: Partial<Reservation> = {}): Reservation => ({
        caller: 'caller',
        key: 'key',
        fingerprint: 'fingerprint',
        ...more,
      });
      const count = async () => (await store.list({ limit: 100 })).animals.length;

      test('stores the animal, and a repeat gives it again', async () => {
        const first = await store.createOnce(pet({ status: 'sold' }), reservation());
        expect(first).toEqual({ animal: await store.get(first.animal.id), isReplay: false });
        const again = await store.createOnce(pet({ status: 'sold' }), reservation());
        expect(again).toEqual({ animal: first.animal, isReplay: true });
        expect(await count()).toBe(1);
      });

      test('happens once among 50 calls at the same time', async () => {
        const calls = Array.from({ length: 50 }, () => store.createOnce(pet(), reservation()));
        const created = await Promise.all(calls);
        expect(new Set(created.map(({ animal }) => animal.id)).size).toBe(1);
        expect(created.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
        expect(await count()).toBe(1);
      });

      test('is known as one after reopening', async () => {
        const { animal } = await store.createOnce(pet(), reservation());
        await reopen();
        expect(await store.createOnce(pet(), reservation())).toEqual({ animal, isReplay: true });
      });

      test('is refused under a key that was used with another input, and stores nothing', async () => {
        await store.createOnce(pet(), reservation());
        const other = store.createOnce(pet({ name: 'Max' }), reservation({ fingerprint: 'other' }));
        await expect(other).rejects.toEqual(storeError('key-reused'));
        expect(await count()).toBe(1);
      });

      test.for([
        { key: 'another' },
        { caller: 'another' },
        { caller: 'call', key: 'erkey' },
        { key: '~'.repeat(255) },
      ])('is another under %j', async (more) => {
        await store.createOnce(pet(), reservation());
        expect(await store.createOnce(pet(), reservation(more))).toMatchObject({ isReplay: false });
        expect(await count()).toBe(2);
      });

      test('is known again under its key though its categoryId was -0', async () => {
        const { animal } = await store.createOnce(pet({ categoryId: -0 }), reservation());
        const repeat = await store.createOnce(pet({ categoryId: -0 }), reservation());
        expect(repeat.animal.id).toBe(animal.id);
        expect(await count()).toBe(1);
      });

      test('is forgotten after 24 hours, and not before', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        try {
          const { animal } = await store.createOnce(pet(), reservation());
          vi.setSystemTime(Date.now() + 24 * 3_600_000 - 1);
          expect(await store.createOnce(pet(), reservation())).toEqual({ animal, isReplay: true });
          vi.setSystemTime(Date.now() + 1);
          expect(await store.createOnce(pet(), reservation())).toMatchObject({ isReplay: false });
          expect(await store.createOnce(pet(), reservation())).toMatchObject({ isReplay: true });
          expect(await count()).toBe(2);
        } finally {
          vi.useRealTimers();
        }
      });

      test('is rejected where the caller has used too many keys; its repeats and other callers are served', async () => {
        const once = (key: number) => store.createOnce(pet(), reservation({ key: `key ${key}` }));
        for (let key = 1; key <= contractReservations; key++) await once(key);
        const error: unknown = await once(0).catch((reason: unknown) => reason);
        expect(error).toEqual(storeError('too-many-reservations'));
        // Between 24 and 25 hours: what was made expires then.
        const { retryAfterSeconds } = z.object({ retryAfterSeconds: z.number() }).parse(error);
        expect(retryAfterSeconds).toBeGreaterThan(23.9 * 3_600);
        expect(retryAfterSeconds).toBeLessThanOrEqual(25 * 3_600);
        expect(await once(1)).toMatchObject({ isReplay: true });
        await expect(store.createOnce(pet(), reservation({ caller: 'other' }))).resolves.toMatchObject({
          isReplay: false,
        });
        await reopen();
        await expect(once(0)).rejects.toEqual(storeError('too-many-reservations'));
        expect(await count()).toBe(contractReservations + 1);
      });

      test('is served again after a day where the caller had used too many keys', async () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        try {
          const once = (key: string) => store.createOnce(pet(), reservation({ key }));
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
          const once = (key: string) => store.createOnce(pet(), reservation({ key }));
          for (let each = 1; each <= 10; each++) {
            await once(`key ${each}`);
            vi.setSystemTime(Date.now() + 1);
          }
          vi.setSystemTime(Date.now() + 24 * 3_600_000);
          const { animal, isReplay } = await once('key 10');
          expect(isReplay).toBe(false);
          for (let each = 1; each <= 10; each++) {
            await once(`other key ${each}`);
            expect(await once('key 10')).toEqual({ animal, isReplay: true });
          }
        } finally {
          vi.useRealTimers();
        }
      });
    });

    describe('list', () => {
      test('of nothing is empty', async () => {
        expect(await store.list({ limit: 20 })).toEqual({ animals: [], hasNext: false });
        expect(await store.list({ limit: 20, status: 'sold' })).toEqual({ animals: [], hasNext: false });
      });

      test('is in ascending order of id, over several reopenings', async () => {
        for (let round = 0; round < 3; round++) {
          await Promise.all(Array.from({ length: 10 }, () => store.create(pet())));
          await reopen();
        }
        const ids = (await store.list({ limit: 100 })).animals.map(({ id }) => id);
        expect(ids).toHaveLength(30);
        expect(ids).toEqual(ids.toSorted((one, other) => one - other));
      });

      test('hasNext is false exactly where the last animal is on the page', async () => {
        const all: Animal[] = [];
        for (let count = 0; count < 5; count++) all.push(await store.create(pet({ status: 'pending' })));
        await store.create(pet({ status: 'sold' }));
        for (const limit of [1, 4, 5, 6, 100]) {
          expect(await store.list({ limit, status: 'pending' })).toEqual({
            animals: all.slice(0, limit),
            hasNext: limit < 5,
          });
        }
      });

      test('a status that one animal in 500 has is found, and nothing else', async () => {
        const creates = Array.from({ length: 500 }, (_, index) =>
          store.create(pet(index === 250 ? { status: 'pending' } : { status: 'available' })),
        );
        const rare = (await Promise.all(creates))[250];
        expect(await store.list({ limit: 100, status: 'pending' })).toEqual({
          animals: [rare],
          hasNext: false,
        });
      });

      test('the cursor is exclusive, and any integer', async () => {
        const [first, second] = [await store.create(pet()), await store.create(pet())];
        const after = async (cursor: number) => (await store.list({ limit: 20, cursor })).animals;
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
                all.push(await store.create(each === undefined ? pet() : pet({ status: each })));
              }
              for (const { limit, status: wanted, near } of queries) {
                const cursor =
                  near === null || all.length === 0
                    ? undefined
                    : (all[near[0] % all.length]?.id ?? 0) + near[1];
                const listed = { limit, status: wanted, cursor };
                expect(await store.list(listed)).toEqual(expectedPage(all, listed));
                const pages = await walk(store, limit, wanted);
                expect(pages.flat()).toEqual(expectedPage(all, { limit: Infinity, status: wanted }).animals);
                expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
              }
            },
          ),
          { numRuns: 25 },
        );
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
        const { id } = await store.create(pet());
        await expect(store.create(pet(), { signal })).rejects.toBe(reason);
        await expect(outcome(() => store.get(id, { signal }))).rejects.toBe(reason);
        await expect(outcome(() => store.list({ limit: 1 }, { signal }))).rejects.toBe(reason);
        await expect(outcome(() => store.keys.find('hash', { signal }))).rejects.toBe(reason);
        expect((await store.list({ limit: 20 })).animals).toHaveLength(1);
      });

      test('after the call was made fails it with the reason, or comes too late for it', async () => {
        const controller = new AbortController();
        const creates = Array.from({ length: 20 }, () => store.create(pet(), { signal: controller.signal }));
        controller.abort(reason);
        const results = await Promise.allSettled(creates);
        const stored = (await store.list({ limit: 100 })).animals;
        const created = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
        const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
        expect(stored).toEqual(expect.arrayContaining(created));
        expect(reasons.every((each) => each === reason)).toBe(true);
      });
    });

    describe('close', () => {
      test('waits for the writes under way', async () => {
        const creates = Array.from({ length: 50 }, () => store.create(pet()));
        await store.close();
        const created = await Promise.all(creates);
        const stored = (await (await subject.reopen()).list({ limit: 100 })).animals;
        expect(stored).toEqual(created.toSorted((one, other) => one.id - other.id));
      });

      test('makes every later call fail as closed', async () => {
        await store.close();
        const calls: (() => Awaitable<unknown>)[] = [
          () => store.create(pet()),
          () => store.createOnce(pet(), { caller: '', key: 'key', fingerprint: '' }),
          () => store.get(1),
          () => store.list({ limit: 1 }),
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
