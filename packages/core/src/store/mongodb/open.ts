import { type MongoClient, MongoServerSelectionError } from 'mongodb';
import { MAX_RESERVATIONS } from '../record.ts';
import type { Reservation, StoreOptions } from '../store.ts';
import { StoreError } from '../storeError.ts';
import { createClient, databaseLabel } from './client.ts';
import { openConnection } from './connection.ts';
import { raiseCounter } from './counter.ts';
import type { DatabaseLabel } from './errors.ts';
import { createIndexes } from './indexes.ts';
import { missingCollections, readMeta, writeMeta } from './meta.ts';
import { type CommandOptions, createOperationRunner, type OperationRunner } from './operation.ts';
import { countReservations } from './reservationCounts.ts';
import { openReservations } from './reservations.ts';
import type { Collections, CounterRow, KeyRow, MetaRow, RecordRow, ReservationRow } from './rows.ts';

/**
 * Options of `openMongodbStore`. Without `create`, it creates no collection, and indexes only with `migrate`. Processes
 * count keys once a minute, so a caller may exceed `maxReservations` with concurrent calls or several processes.
 */
export interface MongodbStoreOptions extends StoreOptions {
  /** `mongodb://` or `mongodb+srv://`, with credentials if the deployment requires them. */
  readonly uri: string;
  /** Name of the database. Default: `petstore`. */
  readonly database?: string | undefined;
  /** Timeout of every operation, in milliseconds. A copy needs a longer one, such as a minute, for its batches. Default: 5000. */
  readonly operationTimeoutMs?: number | undefined;
  /** Maximum number of connections per server. Default: 32. */
  readonly maxPoolSize?: number | undefined;
  /** For tests only. `createOnce` awaits it between writing the reservation and writing the record. */
  readonly afterReservation?: ((reservation: Reservation) => Promise<void>) | undefined;
}

export type Database = ReturnType<typeof openDatabase>;

/** Connects to the database, and retries until it succeeds. @throws {StoreError} if the URI is invalid */
export function openDatabase(options: MongodbStoreOptions) {
  const { uri, database = 'petstore', operationTimeoutMs = 5000, maxPoolSize = 32 } = options;
  const newClient = () => createClient(uri, operationTimeoutMs, maxPoolSize);
  const firstClient = newClient();
  const label = databaseLabel(firstClient, database);
  const operations = createOperationRunner({
    label,
    timeoutMs: operationTimeoutMs,
    maxPoolSize,
    onError(error) {
      if (error instanceof MongoServerSelectionError) connection.replaceClient();
    },
  });
  const connection = openConnection({
    firstClient,
    newClient,
    timeoutMs: operationTimeoutMs,
    label,
    async open(client) {
      const collections = await operations.runInternal(({ commandOptions }) =>
        openCollections(client, database, commandOptions),
      );
      await prepare(collections, label, operations, options);
      return openTables(collections, label, operations, options);
    },
  });

  return {
    label,
    operations,
    /**
     * Returns the tables when the database has all collections and indexes, as `opened` of the connection.
     * @throws {StoreError} with the reason why the database cannot be reached
     */
    getTables: connection.opened,
    close: async () => {
      connection.stop();
      await operations.close();
      await connection.close();
    },
  };
}

export type Tables = ReturnType<typeof openTables>;

function openTables(
  collections: Collections,
  label: DatabaseLabel,
  operations: OperationRunner,
  { maxReservations = MAX_RESERVATIONS, afterReservation }: MongodbStoreOptions,
) {
  const rows = collections.reservations;
  const counts = countReservations(rows, operations, maxReservations);
  return { collections, reservations: openReservations({ rows, counts, label, afterReservation }) };
}

/** Creates the store if the database has none, adds missing collections, and creates missing indexes. */
async function prepare(
  collections: Collections,
  label: DatabaseLabel,
  operations: OperationRunner,
  { create = true, migrate = true, collections: definitions, onMigrated }: MongodbStoreOptions,
): Promise<void> {
  const run: OperationRunner['runInternal'] = (work) => operations.runInternal(work);
  const meta = await run(({ commandOptions }) => readMeta(collections, definitions, label, commandOptions));
  if (meta === undefined && !create) {
    // A mistyped name would look like an empty store.
    throw new StoreError('unavailable', `There is no store in the database ${label.name}.`);
  }
  const missing = meta === undefined ? [] : missingCollections(meta, definitions);
  if (!migrate && missing.length > 0) {
    throw new StoreError(
      'migration-needed',
      `The data in the database ${label.name} was created by an earlier version. Start the service, which migrates it.`,
    );
  }
  if (meta === undefined || missing.length > 0) {
    await run(({ commandOptions }) => writeMeta(collections, definitions, commandOptions));
  }
  for (const name of missing) onMigrated?.(`Added the collection ${name} to the database ${label.name}.`);
  if (!create && !migrate) return;
  await run(({ commandOptions }) => createIndexes(collections, definitions, commandOptions));
  await run(async ({ commandOptions }) => {
    for (const { name } of definitions) await raiseCounter(commandOptions, collections, name);
  });
}

async function openCollections(
  client: MongoClient,
  database: string,
  commandOptions: CommandOptions,
): Promise<Collections> {
  const db = client.db(database);
  const hello: { setName?: string; msg?: string } = await db.command({ hello: 1 }, commandOptions);
  // Only with several servers can a failover roll back data that was read. A standalone server may reject the level.
  const isDistributed = hello.setName !== undefined || hello.msg === 'isdbgrid';
  const options = isDistributed ? { readConcern: { level: 'majority' as const } } : {};
  return {
    records: (name) => db.collection<RecordRow>(name, options),
    keys: db.collection<KeyRow>('keys', options),
    reservations: db.collection<ReservationRow>('reservations', options),
    counters: db.collection<CounterRow>('counters', options),
    meta: db.collection<MetaRow>('meta', options),
  };
}
