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

export interface Database<Tables> {
  readonly label: DatabaseLabel;
  readonly operations: OperationRunner;
  /**
   * What is kept in the database, when its indexes are there. Until it was reached for the first time this waits for the
   * first attempt, and fails at once after that has failed.
   * @throws {StoreError} that says why the database cannot be reached
   */
  readonly getTables: () => Tables | Promise<Tables>;
  /**
   * Makes indexes again that were dropped. It looks every 5 s at most, and does not wait for what it finds.
   * @returns why an index could not be made at the last look
   */
  readonly ensureIndexes: () => StoreError | undefined;
  readonly close: () => Promise<void>;
}

/** Between two attempts to reach a database that is away, in milliseconds. */
const RETRY_MS = 500;

/** Between two looks at the indexes, in milliseconds. A look at indexes that are there costs three commands of about 1 ms. */
const INDEX_CHECK_MS = 5000;

/**
 * Connects to the database, and goes on trying for as long as it is away.
 * @throws {StoreError} for a URI that cannot be right
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
    overloaded: () => storeError('unavailable', label, `${maxWaiting} operations wait for it already`),
    timedOut: ({ writeOutcome }, timeoutMs) =>
      storeError(
        writeOutcome === 'not-stored' ? 'unavailable' : 'outcome-unknown',
        label,
        `it did not answer within ${timeoutMs} ms`,
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
      // Bounded by the time that the selection of a server may take.
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

  /** Brings what is stored up to date, and makes what is missing of it. */
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
          `An earlier version made the data in the database ${label.name}: start the service, which brings it up to date.`,
        );
      }
      const done = await bringUpToDate(collections, meta, definitions, label, (work) =>
        operations.runInternal(work),
      );
      for (const what of done) onMigrated?.(what);
    }
    if (!create) return;
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
      // Not where the database is away, or a build takes longer than a call may: the next look continues.
      if (error instanceof StoreError && error.cause instanceof MongoServerError) indexError = error;
    }
  }

  /**
   * Tries another client where this one finds no server. It would find it later, but for a fault of the driver (7.8.0): a
   * check of the server that begins after its socket was destroyed, and before that was said, waits for ever for the
   * socket's `drain`, and there is never another check. Seen in one of fifteen cut-offs, on a server that is polled.
   */
  function replaceClient(): void {
    if (current !== undefined && !stopped.signal.aborted) void connectOnce();
  }

  /** Closes a client when what was begun with it has ended. */
  async function retire(client: MongoClient): Promise<void> {
    await delay(operationTimeoutMs, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
    if (!stopped.signal.aborted) await closeClient(client);
  }

  async function closeClient(client: MongoClient): Promise<void> {
    clients.delete(client);
    // What ends the sessions on the server may wait for one that does not answer.
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
      if (create && current !== undefined && indexCheck === undefined && now - indexesCheckedAt >= pauseMs) {
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
  // What waits for a server leaves time to the work itself. Less than the look-up of a key may take: that it finds no
  // server must come to light before its time is up.
  const waitMs = Math.ceil(operationTimeoutMs * 0.4);
  try {
    return new MongoClient(uri, {
      appName: 'petstore',
      maxPoolSize,
      // What is acknowledged is on the disks of a majority; what is read was, and its own writes are there for everyone.
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: operationTimeoutMs },
      // By itself, too: one in the URI would go before that of the concern.
      journal: true,
      readPreference: 'primary',
      // How the rows are read: 64-bit integers as numbers.
      promoteLongs: true,
      promoteValues: true,
      useBigInt64: false,
      raw: false,
      serverSelectionTimeoutMS: waitMs,
      // Also what a check of the server may take: a shorter one would cut calls that still have time.
      connectTimeoutMS: operationTimeoutMs,
      // 10 s by default: a database that is back would be noticed that late.
      heartbeatFrequencyMS: 2000,
      // 500 ms by default: after each connection that is lost all calls would wait that long.
      minHeartbeatFrequencyMS: 100,
      // Left out: `waitQueueTimeoutMS`, since the deadline of an operation ends its wait for a connection; `retryReads`
      // and `retryWrites`, which are on unless the URI says otherwise, as servers that are not MongoDB's may ask for.
    });
  } catch (error) {
    // The driver's message may hold the whole URI, so it is shown only where there is nothing to hide.
    const why =
      error instanceof Error && !/@|password|properties/i.test(uri)
        ? error.message.replace(/\.$/, '')
        : 'its form is mongodb://user:password@host:port/?options, where each of : / ? # [ ] @ % in the user and the password is percent-encoded, and every option is one that the driver knows';
    throw new StoreError('unavailable', `The URI of the database cannot be right: ${why}.`);
  }
}

function databaseLabel(client: MongoClient, database: string): DatabaseLabel {
  const { hosts, srvHost, credentials, proxyUsername, proxyPassword, passphrase } = client.options;
  const name = `${database} at ${srvHost ?? hosts.map(String).join(', ')}`;
  const { username, password } = credentials ?? {};
  const secrets = [username, password, proxyUsername, proxyPassword, passphrase].flatMap((secret) =>
    secret === undefined || secret === '' ? [] : [secret, encodeURIComponent(secret)],
  );
  // A user that is named as the database or its host is: that name is said anyway.
  return { name, secrets: secrets.filter((secret) => !name.includes(secret)) };
}

async function openCollections(
  client: MongoClient,
  database: string,
  commandOptions: CommandOptions,
): Promise<Collections> {
  const db = client.db(database);
  const hello: { setName?: string; msg?: string } = await db.command({ hello: 1 }, commandOptions);
  // Only where there is more than one server can what was read be taken back by a failover; a lone one may refuse the level.
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

/** A mistyped name would be taken for an empty store. */
async function rejectMissing(db: Db, { name }: DatabaseLabel, commandOptions: CommandOptions): Promise<void> {
  // By name alone: a user needs no other right for it. Format 1 had no `meta`.
  const filter = { name: { $in: ['meta', 'animals'] } };
  const isThere = await db.listCollections(filter, { ...commandOptions, nameOnly: true }).hasNext();
  if (!isThere) throw new StoreError('unavailable', `There is no store in the database ${name}.`);
}

/** Several processes may make them at the same time. What is there already stays as it is. */
async function createIndexes(
  { keys, records, reservations }: Collections,
  definitions: readonly CollectionDefinition[],
  commandOptions: CommandOptions,
): Promise<void> {
  // Their uniqueness is what names and the first key rest on. The collection is small: it is never sharded.
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
  // Last: these may take longer than a call may.
  for (const { name, indexes } of definitions) {
    const wanted = Object.entries(indexes).map(([field, kind]) =>
      // A record without the field is not in the index of a unique one.
      kind === 'unique'
        ? { key: { [field]: 1 }, unique: true, sparse: true }
        : { key: { [field]: 1, _id: 1 } },
    );
    if (wanted.length > 0) await records(name).createIndexes(wanted, commandOptions);
  }
}
