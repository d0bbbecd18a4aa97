import type { CollectionDefinition, NewRecord, RecordChange, StoredRecord } from './collection.ts';

/** A value or a promise of it: the embedded store returns values, a database promises. */
export type MaybePromise<T> = T | Promise<T>;

/** The options of a call to a store. Those of a procedure are such options: its signal is created when a store reads it. */
export interface CallOptions {
  /** Aborts when the result is not needed. A started write completes; a synchronous read may ignore it. */
  readonly signal?: AbortSignal | undefined;
}

/** Options with which every store is opened. */
export interface StoreOptions {
  /** Collections of the store. Data with any other collection is rejected. */
  readonly collections: readonly CollectionDefinition[];
  /** Whether to create a store if there is none. Default: true. */
  readonly create?: boolean | undefined;
  /**
   * Whether to add collections and indexes that an earlier version did not have. If false, data without one of the
   * collections (in a folder, of the indexes too) is rejected with `migration-needed`. Default: true.
   */
  readonly migrate?: boolean | undefined;
  /** Called with a sentence for each collection (in a folder, and index) that was added to an existing store. */
  readonly onMigrated?: ((what: string) => void) | undefined;
  /** Maximum number of idempotency keys per caller and day. A key counts for up to 25 hours. Default: 100,000. */
  readonly maxReservations?: number | undefined;
}

export interface StoreCloseOptions {
  /** How long `close` waits for unfinished writes, in milliseconds. Default: without limit. */
  readonly timeoutMs?: number | undefined;
}

export interface ListQuery<Stored, Indexed extends string> {
  /** Maximum number of records: 1 to 100. */
  readonly limit: number;
  /** Returns only records with a greater id. A safe integer. Default: from the first record. */
  readonly cursor?: number | undefined;
  /** Returns only records with this value in an indexed field. At most one field. */
  readonly where?: {
    readonly [Field in Indexed]?: Field extends keyof Stored ? Stored[Field] | undefined : never;
  };
}

export interface Page<Stored> {
  /** In ascending order by id. */
  readonly records: Stored[];
  /** Whether more records match the query after the last one of this page. */
  readonly hasNext: boolean;
}

/** Identifies an idempotent create. */
export interface Reservation {
  /** Hash of the caller's API key. Idempotency keys of different callers are independent. */
  readonly caller: string;
  /** Value of `Idempotency-Key`: 1 to 255 visible ASCII characters. */
  readonly key: string;
}

/** Result of an idempotent create. */
export interface Created<Stored> {
  /** The record as the first call created it, even if it was updated or deleted since. */
  readonly record: Stored;
  /** Whether an earlier call stored the record. */
  readonly isReplay: boolean;
}

export type ChangeOptions<Stored> = CallOptions &
  (Stored extends { readonly version: number }
    ? {
        /** Version that the record must have. Otherwise the call fails with `version-mismatch`. Default: any version. */
        readonly ifVersion?: number | undefined;
      }
    : { readonly ifVersion?: undefined });

/**
 * Reads and writes the records of one collection. The promise of a write resolves when its data is on disk. A write fails
 * with `invalid` if the schema rejects the record and with `conflict` if a unique index does. Neither stores anything.
 */
export interface Collection<Stored extends StoredRecord, Indexed extends string = never> {
  /** Stores a record under a new id: a positive safe integer that was never used before. Absent fields stay absent. */
  create(values: NewRecord<Stored>, options?: CallOptions): Promise<Stored>;
  /**
   * Stores a record exactly once per reservation: concurrent calls, retries within 24 hours and retries after a crash all
   * resolve with the same record. After a `conflict`, use a new key for other values.
   * @throws {StoreError} `key-reused` if the key was used with other values or for another collection
   * @throws {StoreError} `too-many-reservations` if the caller has used 100,000 keys within a day. Retries with a known key
   *   still succeed
   */
  createOnce(
    values: NewRecord<Stored>,
    reservation: Reservation,
    options?: CallOptions,
  ): Promise<Created<Stored>>;
  /** @returns the record, or `undefined` if no record has this id */
  get(id: number, options?: CallOptions): MaybePromise<Stored | undefined>;
  /** Returns a page by ascending id. @throws {TypeError} if `where` has two fields or one without index */
  list(query: ListQuery<Stored, Indexed>, options?: CallOptions): MaybePromise<Page<Stored>>;
  /**
   * Changes fields of a record.
   * @returns the record after the change, or `undefined` if no record has this id
   * @throws {StoreError} `version-mismatch` if the record does not have the version `ifVersion`
   * @throws {TypeError} if `ifVersion` is set and the schema has no field `version`
   */
  update(
    id: number,
    change: RecordChange<Stored>,
    options?: ChangeOptions<Stored>,
  ): Promise<Stored | undefined>;
  /** Deletes a record. Its id is never used again. @returns whether it existed @throws as `update` */
  delete(id: number, options?: ChangeOptions<Stored>): Promise<boolean>;
}

/** Stored form of an API key. It contains the hash, not the key. */
export interface KeyRecord {
  /** SHA-256 of the key as base64url. */
  readonly hash: string;
  /** Unique name: 1 to 64 characters. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The key is invalid from this time on. Milliseconds since the epoch. Unset: it is valid until it is revoked. */
  readonly expiresAt?: number | undefined;
  /** Milliseconds since the epoch. Unset: the key is not revoked. `list` includes revoked keys. */
  readonly revokedAt?: number | undefined;
  /** Milliseconds since the epoch, accurate to a minute. Unset: the key was never used. */
  readonly lastUsedAt?: number | undefined;
}

/** Stores API keys. They live in the store so that all processes that share it accept and reject the same keys. */
export interface KeyStore {
  /** @returns the key with this hash, even if it is revoked or expired; `undefined` if there is none */
  find(hash: string, options?: CallOptions): MaybePromise<KeyRecord | undefined>;
  /** @throws {StoreError} `conflict` if another key has the name or the hash */
  add(record: KeyRecord): Promise<void>;
  /**
   * Adds the first key of a new store: exactly one of concurrent processes succeeds. Later calls return `false`, even if
   * every key is revoked.
   * @returns whether this key is the first, also for a retry with it, such as after a lost connection
   */
  addFirst(record: KeyRecord): Promise<boolean>;
  /** @returns all keys in the order in which they were added */
  list(): MaybePromise<KeyRecord[]>;
  /** @returns the revoked key, or `undefined` if no key has this name. Revoking it again changes nothing. */
  revoke(name: string, revokedAt: number): Promise<KeyRecord | undefined>;
  /** Sets `lastUsedAt` if `usedAt` is later. Does nothing if no key has this hash. */
  touch(hash: string, usedAt: number): Promise<void>;
}

/**
 * Stores records and API keys. A write is durable when its promise resolves. Calls fail with a `StoreError`, or with the
 * signal's reason if the caller aborts. Every implementation passes the test suite in `contract.ts`.
 */
export interface Store {
  readonly keys: KeyStore;
  /** Returns a collection that the store was opened with. @throws {TypeError} for any other */
  collection<Stored extends StoredRecord, Indexed extends string>(
    definition: CollectionDefinition<Stored, Indexed>,
  ): Collection<Stored, Indexed>;
  /** Resolves if the store can serve calls. @throws {StoreError} with the reason if it cannot */
  ready(): MaybePromise<void>;
  /**
   * Waits for unfinished calls, then releases all resources. Later calls fail with `closed`. It can be called repeatedly.
   * @throws {StoreError} `outcome-unknown` if a write has not finished by the deadline. In the embedded store its thread
   *   still runs and `process.exit` waits for it: end the process with `process.kill(process.pid, 'SIGKILL')`.
   */
  close(options?: StoreCloseOptions): Promise<void>;
}
