import type { TRPCError } from '@trpc/server';
import type { ResponseControls } from 'trpc-gateway/procedures';
import { expect, test, vi } from 'vitest';
import { appRouter } from '../router.ts';
import type { Store } from '../store/store.ts';
import { StoreError, type StoreErrorCode } from '../store/storeError.ts';
import { categories } from '../store/testing/contract.ts';
import { createRecord, deleteRecord, getRecord, listRecords, updateRecord } from './records.ts';

/** A call of a procedure on a store whose collections have these methods. */
function callOf(collection: object, idempotencyKey?: string) {
  const store = { collection: () => collection } as unknown as Store;
  const response = { nextCursor: undefined, replayed: vi.fn<ResponseControls['replayed']>() };
  const ctx = { store, response: response as object as ResponseControls, caller: 'caller', idempotencyKey };
  return { ctx, response };
}

const dogs = { id: 5, version: 3, name: 'Dogs' };

test('getPet and listPets return a name of 100,000 characters that an earlier version stored', async () => {
  const animal = { id: 1, name: 'é'.repeat(100_000), categoryId: 1 };
  const stored = { get: () => animal, list: () => ({ records: [animal], hasNext: false }) };
  const pets = appRouter.createCaller(callOf(stored).ctx);
  expect(await pets.getPet({ petId: 1 })).toEqual(animal);
  expect(await pets.listPets()).toEqual([animal]);
});

test('listRecords sets nextCursor to the last id of a page if another one follows', async () => {
  for (const hasNext of [true, false]) {
    const call = callOf({ list: () => ({ records: [dogs], hasNext }) });
    expect(await listRecords(call, categories, { limit: 1 })).toEqual([dogs]);
    expect(call.response.nextCursor).toBe(hasNext ? 5 : undefined);
  }
});

test('createRecord with an Idempotency-Key reports whether an earlier call stored the record', async () => {
  for (const isReplay of [true, false]) {
    const call = callOf({ createOnce: () => ({ record: dogs, isReplay }) }, 'key');
    expect(await createRecord(call, categories, { name: 'Dogs' })).toEqual(dogs);
    expect(call.response.replayed).toHaveBeenCalledTimes(Number(isReplay));
  }
});

test('updateRecord passes ifVersion to the store', async () => {
  const update = vi.fn(() => dogs);
  await updateRecord(callOf({ update }), categories, 5, { name: 'Dogs' }, 2);
  expect(update.mock.calls).toEqual([[5, { name: 'Dogs' }, { ifVersion: 2 }]]);
});

test.for([
  ['getRecord', getRecord],
  ['updateRecord', (...[call, of, id]: Parameters<typeof getRecord>) => updateRecord(call, of, id, {})],
  ['deleteRecord', deleteRecord],
] as const)('%s of an id beyond 2^53 is NOT_FOUND without a call to the store', async ([, operation]) => {
  const call = async () => operation(callOf({}), categories, 2 ** 60);
  const notFound = { code: 'NOT_FOUND', message: 'There is no category with this id.' };
  await expect(call()).rejects.toMatchObject(notFound);
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
    for (const operation of [
      () => listRecords(callOf(failing), categories, { limit: 1 }),
      () => createRecord(callOf(failing), categories, { name: 'Dogs' }),
      () => createRecord(callOf(failing, 'key'), categories, { name: 'Dogs' }),
      () => getRecord(callOf(failing), categories, 1),
      () => updateRecord(callOf(failing), categories, 1, {}),
      () => deleteRecord(callOf(failing), categories, 1),
    ]) {
      const call = async () => operation();
      const error = await call().catch((failure: unknown) => failure as TRPCError);
      expect(error).toMatchObject({ code, cause });
      expect(error).toMatchObject({ message: expect.not.stringContaining('hunter2') as string });
    }
  }
});
