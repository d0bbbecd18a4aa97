import { setTimeout as delay } from 'node:timers/promises';
import { type CollectionDefinition, indexedCondition, type StoredRecord } from '../collection.ts';
import { openedCollections } from '../openedCollections.ts';
import { expectedVersion } from '../record.ts';
import type { StoreCloseOptions, Collection } from '../store.ts';
import type { CopyableStore } from '../transfer.ts';
import { Records } from './collection.ts';
import { openCounter } from './counter.ts';
import { storeError } from './errors.ts';
import { createKeyStore } from './keys.ts';
import type { Collections } from './rows.ts';
import { type Database, type MongodbStoreOptions, openDatabase, type Tables } from './open.ts';
import type { OperationOptions, StoreOperation } from './operation.ts';
import { createTransfer } from './transfer.ts';

export type { MongodbStoreOptions } from './open.ts';

/**
 * Opens the store in a MongoDB database, for any number of processes on any number of machines. Ids are unique and ascend
 * within a process. The promise resolves immediately, even if the database is unavailable: the store connects and reconnects
 * without limit, and `ready` rejects while the store cannot serve calls. Every operation has a deadline. Only a deadline closes the
 * connection of a command that was sent.
 * @throws {StoreError} if the URI is invalid
 */
export async function openMongodbStore(options: MongodbStoreOptions): Promise<CopyableStore> {
  const database = openDatabase(options);
  let closing: Promise<void> | undefined;
  let checking: Promise<void> | undefined;

  return {
    collection: openedCollections(options.collections, (definition) =>
      createCollection(database, definition),
    ),
    keys: createKeyStore(
      (work, callOptions) =>
        run(database, ({ collections }, operation) => work(collections.keys, operation), callOptions),
      database.label,
    ),
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

/** Runs an operation with the tables of the current client. */
function run<T>(
  { operations, getTables }: Database,
  work: (tables: Tables, operation: StoreOperation) => Promise<T>,
  callOptions?: OperationOptions,
): Promise<T> {
  return operations.run(async (operation) => work(await getTables(), operation), callOptions);
}

function createCollection<Stored extends StoredRecord, Indexed extends string>(
  database: Database,
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

/** Resolves on any response of the database: under load, a check would wait behind other calls. */
function checkResponse(database: Database): Promise<void> {
  const checked = run(
    database,
    async ({ collections }, operation) => {
      await collections.meta.findOne({ _id: operation.trackSend('store') }, operation.commandOptions);
    },
    { ignoresLimit: true },
  );
  return Promise.race([checked, database.operations.nextResponse()]);
}

async function closeWithin({ close, label }: Database, timeoutMs: number): Promise<void> {
  const isInTime = await Promise.race([close().then(() => true), delay(timeoutMs, false, { ref: false })]);
  if (isInTime) return;
  const why = `the store was closed, and it did not respond within ${Math.round(timeoutMs)} ms`;
  throw storeError('outcome-unknown', label, why);
}
