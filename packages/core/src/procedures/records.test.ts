import type { TRPCError } from '@trpc/server';
import type { ResponseControls } from 'trpc-gateway/procedures';
import { beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { appRouter } from '../router.ts';
import type { Store } from '../store/store.ts';
import { StoreError, type StoreErrorCode } from '../store/storeError.ts';
import { categories, Category } from '../store/testing/contract.ts';
import { memoryStore } from '../store/testing/memoryStore.ts';
import { procedure, router } from '../trpc.ts';
import { animals } from './animals.ts';
import { createRecord, deleteRecord, getRecord, listRecords, updateRecord } from './records.ts';

const id = z.number();
const ifVersion = z.int().optional();
const categoryRouter = router({
  list: procedure
    .input(z.object({ limit: z.int(), cursor: z.int().optional(), name: z.string().optional() }))
    .output(z.array(Category))
    .query(({ ctx, input: { limit, cursor, name }, signal }) =>
      listRecords({ ctx, signal }, categories, { limit, cursor, where: { name } }),
    ),
  create: procedure
    .input(z.object({ name: z.string() }))
    .output(Category)
    .mutation((call) => createRecord(call, categories, call.input)),
  get: procedure
    .input(z.object({ id }))
    .output(Category)
    .query(({ ctx, input, signal }) => getRecord({ ctx, signal }, categories, input.id)),
  update: procedure
    .input(z.object({ id, ifVersion, kind: z.string().nullish() }))
    .output(Category)
    .mutation(({ ctx, input: { kind, ...of }, signal }) =>
      updateRecord({ ctx, signal }, categories, of.id, { kind }, of.ifVersion),
    ),
  delete: procedure
    .input(z.object({ id, ifVersion }))
    .mutation(({ ctx, input, signal }) =>
      deleteRecord({ ctx, signal }, categories, input.id, input.ifVersion),
    ),
});

let store: Store;

/** Records what a procedure sets on its response. */
class FakeResponseControls {
  nextCursor: unknown;
  isReplayed = false;
  replayed() {
    this.isReplayed = true;
  }
}
let response: FakeResponseControls;

beforeEach(() => {
  store = memoryStore();
});

function newContext(idempotencyKey?: string) {
  response = new FakeResponseControls();
  return { store, response: response as unknown as ResponseControls, caller: 'caller', idempotencyKey };
}

const caller = (idempotencyKey?: string) => categoryRouter.createCaller(newContext(idempotencyKey));

test('procedures list, create, get, update and delete records', async () => {
  const [dogs, cats] = [await caller().create({ name: 'Dogs' }), await caller().create({ name: 'Cats' })];
  expect(dogs).toEqual({ id: 1, version: 1, name: 'Dogs' });
  expect(await caller().list({ limit: 1 })).toEqual([dogs]);
  expect(response.nextCursor).toBe(1);
  expect(await caller().list({ limit: 1, cursor: 1 })).toEqual([cats]);
  expect(response.nextCursor).toBeUndefined();
  expect(await caller().list({ limit: 9, name: 'Cats' })).toEqual([cats]);
  const noted = await caller().update({ id: 1, kind: 'bark', ifVersion: 1 });
  expect(noted).toEqual({ ...dogs, version: 2, kind: 'bark' });
  expect(await caller().get({ id: 1 })).toEqual(noted);
  expect(await caller().update({ id: 1, kind: null })).toEqual({ ...dogs, version: 3 });
  await caller().delete({ id: 1, ifVersion: 3 });
  expect(await caller().list({ limit: 9 })).toEqual([cats]);
});

test('getPet and listPets return a name of 100,000 characters that an earlier version stored', async () => {
  const animal = await store.collection(animals).create({ name: 'é'.repeat(100_000), categoryId: 1 });
  const pets = appRouter.createCaller(newContext());
  expect(await pets.getPet({ petId: animal.id })).toEqual(animal);
  expect(await pets.listPets()).toEqual([animal]);
});

test('createRecord creates one record per Idempotency-Key', async () => {
  const dogs = await caller('key').create({ name: 'Dogs' });
  expect(response.isReplayed).toBe(false);
  expect(await caller('key').create({ name: 'Dogs' })).toEqual(dogs);
  expect(response.isReplayed).toBe(true);
  expect(await caller().list({ limit: 9 })).toEqual([dogs]);
});

test.for([
  ['get of an unknown id', 'NOT_FOUND', 'There is no category with this id.', () => caller().get({ id: 7 })],
  ['get of an id beyond 2^53', 'NOT_FOUND', 'There is no category', () => caller().get({ id: 2 ** 60 })],
  ['update of an unknown id', 'NOT_FOUND', 'There is no category', () => caller().update({ id: 7 })],
  ['delete of an unknown id', 'NOT_FOUND', 'There is no category', () => caller().delete({ id: 7 })],
  [
    'update with another ifVersion',
    'CONFLICT',
    'was changed since',
    () => caller().update({ id: 1, ifVersion: 9 }),
  ],
  [
    'delete with another ifVersion',
    'CONFLICT',
    'was changed since',
    () => caller().delete({ id: 1, ifVersion: 9 }),
  ],
  [
    'create with a unique value that is taken',
    'CONFLICT',
    'already exists',
    () => caller().create({ name: 'Dogs' }),
  ],
] as const)('%s fails with %s', async ([, code, message, call]) => {
  await caller().create({ name: 'Dogs' });
  await expect(call()).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});

test.each<[StoreErrorCode, TRPCError['code']]>([
  ['unavailable', 'SERVICE_UNAVAILABLE'],
  ['full', 'SERVICE_UNAVAILABLE'],
  ['forbidden', 'SERVICE_UNAVAILABLE'],
  ['fatal', 'SERVICE_UNAVAILABLE'],
  ['closed', 'SERVICE_UNAVAILABLE'],
  ['migration-needed', 'SERVICE_UNAVAILABLE'],
  ['outcome-unknown', 'GATEWAY_TIMEOUT'],
  ['key-reused', 'UNPROCESSABLE_CONTENT'],
  ['too-many-reservations', 'TOO_MANY_REQUESTS'],
  ['conflict', 'CONFLICT'],
  ['version-mismatch', 'CONFLICT'],
  ['invalid', 'BAD_REQUEST'],
  ['damaged', 'INTERNAL_SERVER_ERROR'],
  ['incompatible', 'INTERNAL_SERVER_ERROR'],
])('an error %s of the store is %s for clients, without its message', async (storeCode, code) => {
  const cause = new StoreError(storeCode, 'mongodb://root:hunter2@db');
  const throws = () => {
    throw cause;
  };
  for (const fail of [throws, () => Promise.reject(cause)]) {
    const failing = { list: fail, create: fail, createOnce: fail, get: fail, update: fail, delete: fail };
    store = { ...store, collection: () => failing };
    for (const call of [
      () => caller().list({ limit: 1 }),
      () => caller().create({ name: 'Dogs' }),
      () => caller('key').create({ name: 'Dogs' }),
      () => caller().get({ id: 1 }),
      () => caller().update({ id: 1 }),
      () => caller().delete({ id: 1 }),
    ]) {
      const error = await call().catch((failure: unknown) => failure as TRPCError);
      expect(error).toMatchObject({ code, cause });
      expect(error).toMatchObject({ message: expect.not.stringContaining('hunter2') as string });
    }
  }
});
