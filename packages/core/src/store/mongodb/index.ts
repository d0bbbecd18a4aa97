import { setTimeout as delay } from 'node:timers/promises';
import { collections as petStoreCollections } from '../../collections.ts';
import { type CollectionDefinition, notOpened, type StoredRecord } from '../collection.ts';
import { expectedVersion } from '../record.ts';
import type { CloseOptions, Collection, Store } from '../store.ts';
import { openCollection } from './collection.ts';
import { openCounter } from './counter.ts';
import { type Place, storeError } from './errors.ts';
import { openKeys } from './keys.ts';
import { type Collections, countedOf } from './database.ts';
import { openDatabase } from './open.ts';
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
  const { collections: definitions = petStoreCollections, maxReservations, afterReservation } = options;
  const { place, operations, prepared, keepIndexes, close } = openDatabase(options, (...opened) =>
    openTables(...opened, maxReservations),
  );
  let closing: Promise<void> | undefined;
  let checking: Promise<void> | undefined;

  const run = <T>(work: (tables: Tables, operation: Operation) => Promise<T>, how?: RunOptions) =>
    operations.run(async (operation) => work(await prepared(), operation), how);

  /** In a crowd the check would wait in line, and what stands before it shows as well that the database answers. */
  const check = () =>
    Promise.race([
      run(
        async ({ collections }, operation) => {
          await collections.meta.findOne({ _id: operation.sends('store') }, operation.call);
        },
        { isUrgent: true },
      ),
      operations.response(),
    ]).finally(() => {
      checking = undefined;
    });

  async function closeWithin(deadlineMs: number): Promise<void> {
    const isInTime = await Promise.race([close().then(() => true), delay(deadlineMs, false, { ref: false })]);
    if (isInTime) return;
    const why = `the store was closed, and it did not answer within ${Math.round(deadlineMs)} ms`;
    throw storeError('outcome-unknown', place, why);
  }

  function serve<Stored extends StoredRecord, Indexed extends string>(
    definition: CollectionDefinition<Stored, Indexed>,
  ): Collection<Stored, Indexed> {
    const { name } = definition;
    const counter = openCounter(
      async () => countedOf((await prepared()).collections, name),
      operations,
      place,
    );
    const opened = new WeakMap<Collections, ReturnType<typeof openCollection<Stored, Indexed>>>();

    /** The records, as the client in use reaches them. */
    function recordsIn(collections: Collections) {
      let records = opened.get(collections);
      if (records === undefined) {
        records = openCollection(collections.records(name), definition, counter, operations, place);
        opened.set(collections, records);
      }
      return records;
    }
    type Records = ReturnType<typeof recordsIn>;
    const call = <T>(work: (records: Records, operation: Operation) => Promise<T>, how?: RunOptions) =>
      run(({ collections }, operation) => work(recordsIn(collections), operation), how);

    return {
      create: (values, how) => call((records, operation) => records.create(operation, values), how),
      createOnce: (values, reservation, how) =>
        run(
          ({ collections, reservations }, operation) =>
            reservations.createOnce(operation, recordsIn(collections), values, reservation, afterReservation),
          how,
        ),
      get: (id, how) => call((records, operation) => records.get(operation, id), how),
      list: (query, how) => call((records, operation) => records.list(operation, query), how),
      async update(id, change, how) {
        const ifVersion = expectedVersion(definition, how);
        return call((records, operation) => records.update(operation, id, change, ifVersion), how);
      },
      async delete(id, how) {
        const ifVersion = expectedVersion(definition, how);
        return call((records, operation) => records.remove(operation, id, ifVersion), how);
      },
    };
  }

  const served = new Map<unknown, unknown>(definitions.map((definition) => [definition, serve(definition)]));

  return {
    collection<Stored extends StoredRecord, Indexed extends string>(
      definition: CollectionDefinition<Stored, Indexed>,
    ) {
      const collection = served.get(definition);
      if (collection === undefined) throw notOpened(definition);
      // It was made of this definition.
      return collection as Collection<Stored, Indexed>;
    },
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
  return {
    collections,
    keys: openKeys(collections.keys, place),
    reservations: openReservations(collections.reservations, place, operations, maxReservations),
  };
}
