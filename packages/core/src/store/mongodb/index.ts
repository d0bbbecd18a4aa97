import { setTimeout as delay } from 'node:timers/promises';
import { collections as petStoreCollections } from '../../collections.ts';
import {
  type CollectionDefinition,
  indexedCondition,
  unknownCollection,
  type StoredRecord,
} from '../collection.ts';
import { expectedVersion } from '../record.ts';
import type { StoreCloseOptions, Collection, Store } from '../store.ts';
import { openCollection } from './collection.ts';
import { openCounter } from './counter.ts';
import { type DatabaseLabel, storeError } from './errors.ts';
import { openKeys } from './keys.ts';
import { type Collections, counterSource } from './database.ts';
import { openDatabase } from './open.ts';
import type { StoreOperation, OperationRunner, OperationOptions } from './operation.ts';
import type { MongodbStoreOptions } from './options.ts';
import { openReservations } from './reservations.ts';

export type { MongodbStoreOptions } from './options.ts';
export { openMongodbTransfer } from './transfer.ts';

/**
 * Opens the store in a MongoDB database, for any number of processes on any number of machines. Ids are unique and ascend
 * within a process. The promise resolves immediately, even if the database is unavailable: the store connects and reconnects
 * without limit, and `ready` rejects while the store cannot serve calls. Every operation has a deadline. Only a deadline closes the
 * connection of a command that was sent.
 * @throws {StoreError} if the URI is invalid
 */
export async function openMongodbStore(options: MongodbStoreOptions): Promise<Store> {
  const { collections: definitions = petStoreCollections, maxReservations, afterReservation } = options;
  const { label, operations, getTables, ensureIndexes, close } = openDatabase(options, (...opened) =>
    openTables(...opened, maxReservations),
  );
  let closing: Promise<void> | undefined;
  let checking: Promise<void> | undefined;

  const run = <T>(
    work: (tables: Tables, operation: StoreOperation) => Promise<T>,
    callOptions?: OperationOptions,
  ) => operations.run(async (operation) => work(await getTables(), operation), callOptions);

  /**
   * Checks that the database responds. Any other response counts too, because under load the check would wait for a
   * connection behind other calls.
   */
  const check = () =>
    Promise.race([
      run(
        async ({ collections }, operation) => {
          await collections.meta.findOne({ _id: operation.trackSend('store') }, operation.commandOptions);
        },
        { ignoresLimit: true },
      ),
      operations.nextResponse(),
    ]).finally(() => {
      checking = undefined;
    });

  async function closeWithin(deadlineMs: number): Promise<void> {
    const isInTime = await Promise.race([close().then(() => true), delay(deadlineMs, false, { ref: false })]);
    if (isInTime) return;
    const why = `the store was closed, and it did not respond within ${Math.round(deadlineMs)} ms`;
    throw storeError('outcome-unknown', label, why);
  }

  function createCollection<Stored extends StoredRecord, Indexed extends string>(
    definition: CollectionDefinition<Stored, Indexed>,
  ): Collection<Stored, Indexed> {
    const { name } = definition;
    const counter = openCounter(
      async () => counterSource((await getTables()).collections, name),
      operations,
      label,
    );
    const opened = new WeakMap<Collections, ReturnType<typeof openCollection<Stored, Indexed>>>();

    /** Returns the records of the current client's collections. */
    function recordsIn(collections: Collections) {
      let records = opened.get(collections);
      if (records === undefined) {
        records = openCollection(collections.records(name), definition, counter, operations, label);
        opened.set(collections, records);
      }
      return records;
    }
    type Records = ReturnType<typeof recordsIn>;
    const call = <T>(
      work: (records: Records, operation: StoreOperation) => Promise<T>,
      callOptions?: OperationOptions,
    ) => run(({ collections }, operation) => work(recordsIn(collections), operation), callOptions);

    return {
      create: (values, callOptions) =>
        call((records, operation) => records.create(operation, values), callOptions),
      createOnce: (values, reservation, callOptions) =>
        run(
          ({ collections, reservations }, operation) =>
            reservations.createOnce(operation, recordsIn(collections), values, reservation, afterReservation),
          callOptions,
        ),
      get: (id, callOptions) => call((records, operation) => records.get(operation, id), callOptions),
      async list(query, callOptions) {
        const condition = indexedCondition(definition, query.where);
        return call((records, operation) => records.list(operation, query, condition), callOptions);
      },
      async update(id, change, callOptions) {
        const ifVersion = expectedVersion(definition, callOptions);
        return call((records, operation) => records.update(operation, id, change, ifVersion), callOptions);
      },
      async delete(id, callOptions) {
        const ifVersion = expectedVersion(definition, callOptions);
        return call((records, operation) => records.remove(operation, id, ifVersion), callOptions);
      },
    };
  }

  const createdCollections = new Map<unknown, unknown>(
    definitions.map((definition) => [definition, createCollection(definition)]),
  );

  return {
    collection<Stored extends StoredRecord, Indexed extends string>(
      definition: CollectionDefinition<Stored, Indexed>,
    ) {
      const collection = createdCollections.get(definition);
      if (collection === undefined) throw unknownCollection(definition);
      // The collection was created from this definition.
      return collection as Collection<Stored, Indexed>;
    },
    keys: {
      // Half of the timeout, because the authenticated call follows with another timeout.
      find: (hash, callOptions) =>
        run(({ keys }, operation) => keys.find(operation, hash), { ...callOptions, timeoutShare: 0.5 }),
      add: (record) => run(({ keys }, operation) => keys.add(operation, record)),
      addFirst: (record) => run(({ keys }, operation) => keys.addFirst(operation, record)),
      list: () => run(({ keys }, operation) => keys.list(operation)),
      revoke: (name, revokedAt) => run(({ keys }, operation) => keys.revoke(operation, name, revokedAt)),
      touch: (hash, usedAt) => run(({ keys }, operation) => keys.touch(operation, hash, usedAt)),
    },
    async ready() {
      // Concurrent callers share a check: readiness probes need no credential.
      checking ??= check();
      await checking;
      const indexError = ensureIndexes();
      if (indexError !== undefined) throw indexError;
    },
    close({ deadlineMs }: StoreCloseOptions = {}) {
      closing ??= deadlineMs === undefined ? close() : closeWithin(deadlineMs);
      return closing;
    },
  };
}

type Tables = ReturnType<typeof openTables>;

function openTables(
  collections: Collections,
  label: DatabaseLabel,
  operations: OperationRunner,
  maxReservations?: number,
) {
  return {
    collections,
    keys: openKeys(collections.keys, label),
    reservations: openReservations(collections.reservations, label, operations, maxReservations),
  };
}
