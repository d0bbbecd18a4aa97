import { setTimeout as delay } from 'node:timers/promises';
import { type CollectionDefinition, indexedCondition, type StoredRecord } from '../collection.ts';
import { openedCollections } from '../openedCollections.ts';
import { expectedVersion, MAX_RESERVATIONS } from '../record.ts';
import type { StoreCloseOptions, Collection, KeyStore } from '../store.ts';
import type { CopyableStore } from '../transfer.ts';
import { Records } from './collection.ts';
import { openCounter } from './counter.ts';
import { type DatabaseLabel, storeError } from './errors.ts';
import { openKeys } from './keys.ts';
import type { Collections } from './rows.ts';
import { type Database, openDatabase } from './open.ts';
import type { OperationOptions, OperationRunner, StoreOperation } from './operation.ts';
import type { MongodbStoreOptions } from './options.ts';
import { ReservationCounts } from './reservationCounts.ts';
import { Reservations } from './reservations.ts';
import { createTransfer } from './transfer.ts';

export type { MongodbStoreOptions } from './options.ts';

/**
 * Opens the store in a MongoDB database, for any number of processes on any number of machines. Ids are unique and ascend
 * within a process. The promise resolves immediately, even if the database is unavailable: the store connects and reconnects
 * without limit, and `ready` rejects while the store cannot serve calls. Every operation has a deadline. Only a deadline closes the
 * connection of a command that was sent.
 * @throws {StoreError} if the URI is invalid
 */
export async function openMongodbStore(options: MongodbStoreOptions): Promise<CopyableStore> {
  const database = openDatabase(options, (collections, label, operations) =>
    openTables(collections, label, operations, options),
  );
  let closing: Promise<void> | undefined;
  let checking: Promise<void> | undefined;

  return {
    collection: openedCollections(options.collections, (definition) =>
      createCollection(database, definition),
    ),
    keys: createKeyStore(database),
    transfer: () =>
      createTransfer(
        (work) => run(database, ({ collections }, operation) => work(collections, operation)),
        options.collections,
        database.label,
      ),
    async ready() {
      // Concurrent callers share a check: readiness probes need no credential.
      checking ??= checkResponse(database).finally(() => {
        checking = undefined;
      });
      await checking;
    },
    close({ timeoutMs }: StoreCloseOptions = {}) {
      closing ??= timeoutMs === undefined ? database.close() : closeWithin(database, timeoutMs);
      return closing;
    },
  };
}

type Tables = ReturnType<typeof openTables>;

function openTables(
  collections: Collections,
  label: DatabaseLabel,
  operations: OperationRunner,
  { maxReservations = MAX_RESERVATIONS, afterReservation }: MongodbStoreOptions,
) {
  const rows = collections.reservations;
  const counts = new ReservationCounts(rows, operations, maxReservations);
  return {
    collections,
    keys: openKeys(collections.keys, label),
    reservations: new Reservations({ rows, counts, label, afterReservation }),
  };
}

/** Runs an operation with the tables of the current client. */
function run<T>(
  { operations, getTables }: Database<Tables>,
  work: (tables: Tables, operation: StoreOperation) => Promise<T>,
  callOptions?: OperationOptions,
): Promise<T> {
  return operations.run(async (operation) => work(await getTables(), operation), callOptions);
}

function createCollection<Stored extends StoredRecord, Indexed extends string>(
  database: Database<Tables>,
  definition: CollectionDefinition<Stored, Indexed>,
): Collection<Stored, Indexed> {
  const { label, operations, getTables } = database;
  const { name } = definition;
  const ids = openCounter(name, async () => (await getTables()).collections, operations, label);
  /** Returns the records of the current client's collections. */
  const recordsIn = (collections: Collections) =>
    new Records({ rows: collections.records(name), definition, ids, label });

  const call = <T>(
    work: (records: Records<Stored, Indexed>, operation: StoreOperation) => Promise<T>,
    callOptions?: OperationOptions,
  ) => run(database, ({ collections }, operation) => work(recordsIn(collections), operation), callOptions);

  return {
    create: (values, callOptions) =>
      call((records, operation) => records.create(operation, values), callOptions),
    createOnce: (values, reservation, callOptions) =>
      run(
        database,
        ({ collections, reservations }, operation) =>
          reservations.createOnce(operation, recordsIn(collections), values, reservation),
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

function createKeyStore(database: Database<Tables>): KeyStore {
  return {
    // Half of the timeout, because the authenticated call follows with another timeout.
    find: (hash, callOptions) =>
      run(database, ({ keys }, operation) => keys.find(operation, hash), {
        ...callOptions,
        timeoutShare: 0.5,
      }),
    add: (record) => run(database, ({ keys }, operation) => keys.add(operation, record)),
    addFirst: (record) => run(database, ({ keys }, operation) => keys.addFirst(operation, record)),
    list: () => run(database, ({ keys }, operation) => keys.list(operation)),
    revoke: (name, revokedAt) =>
      run(database, ({ keys }, operation) => keys.revoke(operation, name, revokedAt)),
    touch: (hash, usedAt) => run(database, ({ keys }, operation) => keys.touch(operation, hash, usedAt)),
  };
}

/** Resolves on any response of the database: under load, a check would wait behind other calls. */
function checkResponse(database: Database<Tables>): Promise<void> {
  const checked = run(
    database,
    async ({ collections }, operation) => {
      await collections.meta.findOne({ _id: operation.trackSend('store') }, operation.commandOptions);
    },
    { ignoresLimit: true },
  );
  return Promise.race([checked, database.operations.nextResponse()]);
}

async function closeWithin({ close, label }: Database<Tables>, timeoutMs: number): Promise<void> {
  const isInTime = await Promise.race([close().then(() => true), delay(timeoutMs, false, { ref: false })]);
  if (isInTime) return;
  const why = `the store was closed, and it did not respond within ${Math.round(timeoutMs)} ms`;
  throw storeError('outcome-unknown', label, why);
}
