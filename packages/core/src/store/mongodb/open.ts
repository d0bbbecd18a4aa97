import { setTimeout as delay } from 'node:timers/promises';
import { type Db, MongoClient, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { collections as petStoreCollections } from '../../collections.ts';
import type { CollectionDefinition } from '../collection.ts';
import { StoreError } from '../storeError.ts';
import { raiseCounter } from './counter.ts';
import { type Collections, counterSource } from './database.ts';
import { type DatabaseLabel, storeError, toStoreError } from './errors.ts';
import { bringUpToDate, isNew, isUpToDate, readMeta, writeMeta } from './migrations.ts';
import type { MongodbStoreOptions } from './options.ts';
import { type CommandOptions, createOperationRunner, type OperationRunner } from './operation.ts';
import type { CounterRow, KeyRow, MetaRow, RecordRow, ReservationRow } from './rows.ts';

/** A connection to the database that is kept open and replaced if it fails. */
export interface Database<Tables> {
  readonly label: DatabaseLabel;
  readonly operations: OperationRunner;
  /**
   * Returns the tables when the database is migrated and indexed. Before the first connection it waits for the first
   * attempt to connect. After a failed attempt it fails immediately until one succeeds.
   * @throws {StoreError} with the reason why the database cannot be reached
   */
  readonly getTables: () => Tables | Promise<Tables>;
  /**
   * Starts to recreate dropped indexes, at most every 5 s, and does not wait for the result.
   * @returns why the last attempt could not create an index, or `undefined`
   */
  readonly ensureIndexes: () => StoreError | undefined;
  readonly close: () => Promise<void>;
}

/** Time between two attempts to connect, in milliseconds. */
const RETRY_MS = 500;

/** Time between two checks of the indexes, in milliseconds. If all exist, a check takes three commands of about 1 ms. */
const INDEX_CHECK_MS = 5000;

/**
 * Connects to the database, and retries until it succeeds.
 * @throws {StoreError} if the URI is invalid
 */
export function openDatabase<Tables>(
  {
    uri,
    database = 'petstore',
    create = true,
    collections: definitions = petStoreCollections,
    migrate = true,
    onMigrated,
    operationTimeoutMs = 5000,
    maxPoolSize = 32,
    maxWaiting = 1024,
  }: MongodbStoreOptions,
  openTables: (collections: Collections, label: DatabaseLabel, operations: OperationRunner) => Tables,
): Database<Tables> {
  const createsIndexes = create || migrate;
  const newClient = () => createClient(uri, operationTimeoutMs, maxPoolSize);
  const firstClient = newClient();
  const label = databaseLabel(firstClient, database);
  const operations = createOperationRunner({
    timeoutMs: operationTimeoutMs,
    maxConcurrent: maxPoolSize + maxWaiting,
    toStoreError(error, { writeOutcome }) {
      if (error instanceof MongoServerSelectionError) replaceClient();
      return toStoreError(error, label, writeOutcome);
    },
    closed: () => storeError('closed', label),
    overloaded: () => storeError('unavailable', label, `${maxWaiting} operations are already waiting for it`),
    timedOut: ({ writeOutcome }, timeoutMs) =>
      storeError(
        writeOutcome === 'not-stored' ? 'unavailable' : 'outcome-unknown',
        label,
        `it did not respond within ${timeoutMs} ms`,
      ),
  });

  const stopped = new AbortController();
  const clients = new Set<MongoClient>();
  let current:
    | { readonly client: MongoClient; readonly collections: Collections; readonly tables: Tables }
    | undefined;
  let connectError: StoreError | undefined;
  let connecting: Promise<void> | undefined;
  let indexesCheckedAt = 0;
  let indexCheck: Promise<void> | undefined;
  let indexError: StoreError | undefined;

  function connectOnce(client?: MongoClient): Promise<void> {
    connecting ??= connect(client ?? newClient()).finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  async function connect(client: MongoClient): Promise<void> {
    clients.add(client);
    try {
      // Bounded by `serverSelectionTimeoutMS`.
      await client.connect();
      const collections = await operations.runInternal(({ commandOptions }) =>
        openCollections(client, database, commandOptions),
      );
      await prepare(collections, client.db(database));
      if (current !== undefined) void retire(current.client);
      current = { client, collections, tables: openTables(collections, label, operations) };
      indexesCheckedAt = performance.now();
    } catch (error) {
      connectError = toStoreError(error, label, 'not-stored');
      await closeClient(client);
    }
  }

  /** Creates the store if needed, migrates it and creates its indexes. */
  async function prepare(collections: Collections, db: Db): Promise<void> {
    if (!create)
      await operations.runInternal(({ commandOptions }) => rejectMissing(db, label, commandOptions));
    if (
      create &&
      (await operations.runInternal(({ commandOptions }) => isNew(collections, commandOptions)))
    ) {
      await operations.runInternal(({ commandOptions }) =>
        writeMeta(collections, definitions, commandOptions),
      );
    }
    const meta = await operations.runInternal(({ commandOptions }) =>
      readMeta(collections, definitions, label, commandOptions),
    );
    if (!isUpToDate(meta, definitions)) {
      if (!migrate) {
        throw new StoreError(
          'migration-needed',
          `The data in the database ${label.name} was created by an earlier version. Start the service, which migrates it.`,
        );
      }
      const done = await bringUpToDate(collections, meta, definitions, label, (work) =>
        operations.runInternal(work),
      );
      for (const what of done) onMigrated?.(what);
    }
    if (!createsIndexes) return;
    await operations.runInternal(async ({ commandOptions }) => {
      await createIndexes(collections, definitions, commandOptions);
      for (const { name } of definitions)
        await raiseCounter(commandOptions, counterSource(collections, name));
    });
  }

  async function recreateIndexes({ collections }: NonNullable<typeof current>): Promise<void> {
    try {
      await operations.runInternal(({ commandOptions }) =>
        createIndexes(collections, definitions, commandOptions),
      );
      indexError = undefined;
    } catch (error) {
      // Ignored if the database is unavailable or an index build exceeds the timeout: the next check continues.
      if (error instanceof StoreError && error.cause instanceof MongoServerError) indexError = error;
    }
  }

  /**
   * Connects with another client if this one finds no server. The client should recover by itself, but the driver (7.8.0)
   * has a bug: a server check that begins after its socket was destroyed, and before the socket reports it, waits forever
   * for `drain`, and no other check follows. Observed in one of fifteen disconnections, with a polled server.
   */
  function replaceClient(): void {
    if (current !== undefined && !stopped.signal.aborted) void connectOnce();
  }

  /** Closes a client when its operations have ended. */
  async function retire(client: MongoClient): Promise<void> {
    await delay(operationTimeoutMs, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
    if (!stopped.signal.aborted) await closeClient(client);
  }

  async function closeClient(client: MongoClient): Promise<void> {
    clients.delete(client);
    // `close` ends sessions on the server and may wait for one that does not respond.
    await Promise.race([client.close(), delay(operationTimeoutMs, undefined, { ref: false })]);
  }

  const first = connectOnce(firstClient);
  const connectLoop = connectUntilStopped();
  async function connectUntilStopped() {
    await first;
    for (;;) {
      if (current !== undefined || stopped.signal.aborted) return;
      await delay(RETRY_MS, undefined, { signal: stopped.signal }).catch(() => {});
      if (!stopped.signal.aborted) await connectOnce();
    }
  }

  return {
    label,
    operations,
    getTables() {
      if (current !== undefined) return current.tables;
      return first.then(() => {
        if (current !== undefined) return current.tables;
        throw connectError ?? storeError('closed', label);
      });
    },
    ensureIndexes() {
      const now = performance.now();
      const pauseMs = indexError === undefined ? INDEX_CHECK_MS : RETRY_MS;
      if (
        createsIndexes &&
        current !== undefined &&
        indexCheck === undefined &&
        now - indexesCheckedAt >= pauseMs
      ) {
        indexesCheckedAt = now;
        indexCheck = recreateIndexes(current).finally(() => {
          indexCheck = undefined;
        });
      }
      return indexError;
    },
    async close() {
      stopped.abort();
      await operations.close();
      await connectLoop;
      await connecting;
      await Promise.all(Array.from(clients, closeClient));
    },
  };
}

function createClient(uri: string, operationTimeoutMs: number, maxPoolSize: number): MongoClient {
  // Server selection leaves time for the operation itself. It takes less than the lookup of an API key may take, so that the
  // lookup fails with the selection error and not with its own timeout.
  const waitMs = Math.ceil(operationTimeoutMs * 0.4);
  try {
    return new MongoClient(uri, {
      appName: 'petstore',
      maxPoolSize,
      // Acknowledged writes are on the disks of a majority. Reads return such data only, and see all acknowledged writes.
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: operationTimeoutMs },
      // Separately, because `journal` in the URI would override the write concern's.
      journal: true,
      readPreference: 'primary',
      // Rows are read with 64-bit integers as numbers.
      promoteLongs: true,
      promoteValues: true,
      useBigInt64: false,
      raw: false,
      serverSelectionTimeoutMS: waitMs,
      // Also the timeout of server checks: a shorter one would end calls before their deadline.
      connectTimeoutMS: operationTimeoutMs,
      // 10 s by default: it would take that long to notice that the database is available again.
      heartbeatFrequencyMS: 2000,
      // 500 ms by default: after each lost connection all calls would wait that long.
      minHeartbeatFrequencyMS: 100,
      // Not set: `waitQueueTimeoutMS`, because an operation's deadline ends its wait for a connection; `retryReads` and
      // `retryWrites`, which are on by default and which the URI may disable for servers other than MongoDB.
    });
  } catch (error) {
    // The driver's message may contain the whole URI, so it is shown only for a URI without secrets.
    const why =
      error instanceof Error && !/@|password|properties/i.test(uri)
        ? error.message.replace(/\.$/, '')
        : 'it must have the form mongodb://user:password@host:port/?options, with each of : / ? # [ ] @ % in the user and the password percent-encoded, and only options that the driver knows';
    throw new StoreError('unavailable', `The URI of the database is invalid: ${why}.`);
  }
}

function databaseLabel(client: MongoClient, database: string): DatabaseLabel {
  const { hosts, srvHost, credentials, proxyUsername, proxyPassword, passphrase } = client.options;
  const name = `${database} at ${srvHost ?? hosts.map(String).join(', ')}`;
  const { username, password } = credentials ?? {};
  const secrets = [username, password, proxyUsername, proxyPassword, passphrase].flatMap((secret) =>
    secret === undefined || secret === '' ? [] : [secret, encodeURIComponent(secret)],
  );
  // A user name that is also the name of the database or a host is not a secret.
  return { name, secrets: secrets.filter((secret) => !name.includes(secret)) };
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

/** Rejects a database without a store: a mistyped name would look like an empty store. */
async function rejectMissing(db: Db, { name }: DatabaseLabel, commandOptions: CommandOptions): Promise<void> {
  // `nameOnly` needs no additional privilege. Format 1 had no `meta`.
  const filter = { name: { $in: ['meta', 'animals'] } };
  const isThere = await db.listCollections(filter, { ...commandOptions, nameOnly: true }).hasNext();
  if (!isThere) throw new StoreError('unavailable', `There is no store in the database ${name}.`);
}

/** Creates missing indexes. Several processes may do so concurrently. */
async function createIndexes(
  { keys, records, reservations }: Collections,
  definitions: readonly CollectionDefinition[],
  commandOptions: CommandOptions,
): Promise<void> {
  // Unique names and the first key depend on these indexes. The collection is small, so it is never sharded.
  await keys.createIndexes(
    [
      { key: { name: 1 }, unique: true },
      { key: { number: 1 }, unique: true },
    ],
    commandOptions,
  );
  await reservations.createIndexes(
    [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }, { key: { caller: 1, expiresAt: 1 } }],
    commandOptions,
  );
  // Last, because these may exceed the timeout.
  for (const { name, indexes } of definitions) {
    const wanted = Object.entries(indexes).map(([field, kind]) =>
      // Sparse: records without the field are not in a unique index.
      kind === 'unique'
        ? { key: { [field]: 1 }, unique: true, sparse: true }
        : { key: { [field]: 1, _id: 1 } },
    );
    if (wanted.length > 0) await records(name).createIndexes(wanted, commandOptions);
  }
}
