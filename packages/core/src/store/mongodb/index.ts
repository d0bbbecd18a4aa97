import { setTimeout as delay } from 'node:timers/promises';
import type { CloseOptions, Store } from '../store.ts';
import { animalOf, openAnimals } from './animals.ts';
import { openCounter } from './counter.ts';
import { type Place, storeError } from './errors.ts';
import { openKeys } from './keys.ts';
import { type Collections, openDatabase } from './open.ts';
import type { Operation, Operations, RunOptions } from './operation.ts';
import type { MongodbStoreOptions } from './options.ts';
import { openReservations } from './reservations.ts';

export type { MongodbStoreOptions } from './options.ts';
export { openMongodbTransfer } from './transfer.ts';

/**
 * The store in a MongoDB database: for any number of processes on any number of machines. Ids are unique and ascend
 * within a process. It resolves at once: the database may be away, is waited for without end, and may go and come back;
 * `ready` says. Every operation is bounded; only a deadline closes the connection of a command that was sent.
 * @throws {StoreError} for a URI that cannot be right
 */
export async function openMongodbStore(options: MongodbStoreOptions): Promise<Store> {
  const { place, operations, prepared, keepIndexes, close } = openDatabase(options, (...opened) =>
    openTables(...opened, options.maxReservations),
  );
  const counter = openCounter(async () => (await prepared()).collections, operations, place);
  let closing: Promise<void> | undefined;
  let checking: Promise<void> | undefined;

  const run = <T>(work: (tables: Tables, operation: Operation) => Promise<T>, how?: RunOptions) =>
    operations.run(async (operation) => work(await prepared(), operation), how);

  /** In a crowd the check would wait in line, and what stands before it shows as well that the database answers. */
  const check = () =>
    Promise.race([
      run(
        async ({ collections }, operation) => {
          await collections.counters.findOne({ _id: operation.sends('lastAnimalId') }, operation.call);
        },
        { isUrgent: true },
      ),
      operations.answered(),
    ]).finally(() => {
      checking = undefined;
    });

  async function closeWithin(deadlineMs: number): Promise<void> {
    const isInTime = await Promise.race([close().then(() => true), delay(deadlineMs, false, { ref: false })]);
    if (isInTime) return;
    const why = `the store was closed, and it did not answer within ${Math.round(deadlineMs)} ms`;
    throw storeError('outcome-unknown', place, why);
  }

  return {
    create: (pet, call) =>
      run(async ({ animals }, operation) => {
        for (;;) {
          const animal = animalOf(await counter.take(), pet);
          if (await animals.insert(operation, animal)) return animal;
          // The driver repeated the insert: the animal that is there may be this one.
          if (operation.doubt === 'standing') {
            throw storeError('outcome-unknown', place, `animal ${animal.id} was there at the repeat`);
          }
          // The counter is behind the animals. Nothing was stored.
          operation.doubt = 'none';
          await counter.pass(operation, animal.id);
        }
      }, call),
    createOnce: (pet, reservation, call) =>
      run(
        ({ reservations }, operation) =>
          reservations.createOnce(operation, pet, reservation, counter, options.afterReservation),
        call,
      ),
    get: (id, call) => run(({ animals }, operation) => animals.get(operation, id), call),
    list: (query, call) => run(({ animals }, operation) => animals.list(operation, query), call),
    keys: {
      // A call that needs it has its own wait before it.
      find: (hash, call) => run(({ keys }, operation) => keys.find(operation, hash), { ...call, share: 0.5 }),
      add: (record) => run(({ keys }, operation) => keys.add(operation, record)),
      addFirst: (record) => run(({ keys }, operation) => keys.addFirst(operation, record)),
      list: () => run(({ keys }, operation) => keys.list(operation)),
      revoke: (name, revokedAt) => run(({ keys }, operation) => keys.revoke(operation, name, revokedAt)),
      touch: (hash, usedAt) => run(({ keys }, operation) => keys.touch(operation, hash, usedAt)),
    },
    async ready() {
      // One check for all who ask: they need no credential.
      checking ??= check();
      await checking;
      const fault = keepIndexes();
      if (fault !== undefined) throw fault;
    },
    close({ deadlineMs }: CloseOptions = {}) {
      closing ??= deadlineMs === undefined ? close() : closeWithin(deadlineMs);
      return closing;
    },
  };
}

type Tables = ReturnType<typeof openTables>;

function openTables(
  collections: Collections,
  place: Place,
  operations: Operations,
  maxReservations?: number,
) {
  const animals = openAnimals(collections.animals, place);
  return {
    animals,
    collections,
    keys: openKeys(collections.keys, place),
    reservations: openReservations(collections.reservations, animals, place, operations, maxReservations),
  };
}
