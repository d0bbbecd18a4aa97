import type { CollectionDefinition, NewRecord, RecordChange, StoredRecord } from './collection.ts';

/** A value now, or a promise of it: an embedded store answers at once, a database later. */
export type MaybePromise<T> = T | Promise<T>;

export interface CallOptions {
  /** Aborts when nobody waits for the answer any more. A write that has begun is completed all the same. */
  readonly signal?: AbortSignal | undefined;
}

export interface CloseOptions {
  /** How long the writes under way may take, in milliseconds. Default: as long as they need. */
  readonly deadlineMs?: number | undefined;
}

export interface ListQuery<Stored, Indexed extends string> {
  /** How many at most: 1 to 100. */
  readonly limit: number;
  /** Only records whose id is greater: a safe integer. */
  readonly cursor?: number | undefined;
  /** Only records with this value in a field of the collection's indexes: one field at most. */
  readonly where?: {
    readonly [Field in Indexed]?: Field extends keyof Stored ? Stored[Field] | undefined : never;
  };
}

export interface Page<Stored> {
  /** In ascending order of id. */
  readonly records: Stored[];
  /** Whether a record that fits the query comes after the last of these. */
  readonly hasNext: boolean;
}

/** Identifies a create that must happen once. */
export interface Reservation {
  /** The caller, by the hash of its API key: one caller's keys mean nothing to another. */
  readonly caller: string;
  /** The `Idempotency-Key`: 1 to 255 visible ASCII characters. */
  readonly key: string;
}

/** The outcome of a create that must happen once. */
export interface Created<Stored> {
  /** As the first call created it, whatever became of it since. */
  readonly record: Stored;
  /** Whether an earlier call stored it. */
  readonly isReplay: boolean;
}

export type ChangeOptions<Stored> = CallOptions &
  (Stored extends { readonly version: number }
    ? {
        /** Only where the record has this version: a lost race is `version-mismatch`. */
        readonly ifVersion?: number | undefined;
      }
    : { readonly ifVersion?: undefined });

/**
 * The records of one collection. Every promise resolves when what it wrote is on disk. A write that the schema rejects
 * fails with `invalid`, one that a unique index rejects with `conflict`, and neither stores anything.
 */
export interface Collection<Stored extends StoredRecord, Indexed extends string = never> {
  /** Stores a record under a new id: a positive safe integer, never given before. An absent field stays absent. */
  create(values: NewRecord<Stored>, options?: CallOptions): Promise<Stored>;
  /**
   * Stores a record once, however often it is called under one reservation within 24 hours: at the same time, again
   * later, or after a crash. Every call resolves with the same record. After a `conflict` use a new key for other values.
   * @throws {StoreError} `key-reused` where the key was used with other values, or for another collection
   * @throws {StoreError} `too-many-reservations` where the caller has used 100,000 keys within a day. A repeat is served
   */
  createOnce(
    values: NewRecord<Stored>,
    reservation: Reservation,
    options?: CallOptions,
  ): Promise<Created<Stored>>;
  get(id: number, options?: CallOptions): MaybePromise<Stored | undefined>;
  list(query: ListQuery<Stored, Indexed>, options?: CallOptions): MaybePromise<Page<Stored>>;
  /**
   * Changes some fields of a record.
   * @returns the record after the change; `undefined` where no record has this id
   */
  update(
    id: number,
    change: RecordChange<Stored>,
    options?: ChangeOptions<Stored>,
  ): Promise<Stored | undefined>;
  /** @returns whether there was a record with this id. No record gets the id again */
  delete(id: number, options?: ChangeOptions<Stored>): Promise<boolean>;
}

/** An API key as it is stored: never the key itself. */
export interface KeyRecord {
  /** SHA-256 of the key, base64url. */
  readonly hash: string;
  /** Unique among the keys: 1 to 64 characters. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch: from then on the key is not good; unset where it is good until it is revoked. */
  readonly expiresAt?: number | undefined;
  /** Milliseconds since the epoch; unset while the key is good. A revoked key stays listed. */
  readonly revokedAt?: number | undefined;
  /** Milliseconds since the epoch, within a minute; unset where the key was never used. */
  readonly lastUsedAt?: number | undefined;
}

/** API keys live in the store in use, so that every process that shares it accepts and refuses the same. */
export interface KeyStore {
  /** The key with this hash, revoked, expired or not. */
  find(hash: string, options?: CallOptions): MaybePromise<KeyRecord | undefined>;
  /** @throws {StoreError} `conflict` where the name is taken */
  add(record: KeyRecord): Promise<void>;
  /**
   * Adds the first key of a new store. Of any number of processes that try at once exactly one succeeds, and after it
   * nobody: not even when every key is revoked.
   * @returns whether this is the first key: `false` where the store has, or ever had, another. Who tries again with the
   * same key, since an answer was lost, is told the same.
   */
  addFirst(record: KeyRecord): Promise<boolean>;
  /** In order of creation. */
  list(): MaybePromise<KeyRecord[]>;
  /** @returns the revoked record; `undefined` where no key has this name. Revoking again changes nothing. */
  revoke(name: string, revokedAt: number): Promise<KeyRecord | undefined>;
  /** Keeps when a key was used, where that is later than what is known; a key that is not there is passed over. */
  touch(hash: string, usedAt: number): Promise<void>;
}

/**
 * Stores records and API keys. What a promise resolved for is durable. A failure is a `StoreError`. `contract.ts` is the
 * suite that every implementation passes.
 */
export interface Store {
  readonly keys: KeyStore;
  /**
   * The records of a collection with which the store was opened.
   * @throws {TypeError} for any other collection
   */
  collection<Stored extends StoredRecord, Indexed extends string>(
    definition: CollectionDefinition<Stored, Indexed>,
  ): Collection<Stored, Indexed>;
  /** Resolves where the store can serve. @throws {StoreError} that says why it cannot */
  ready(): MaybePromise<void>;
  /**
   * Waits for calls under way, then gives everything back. Calls afterwards fail with `closed`.
   * @throws {StoreError} `outcome-unknown` where a write has not ended by the deadline. Its thread still runs, and
   *   `process.exit` waits for it: such a process ends only by a signal, such as `process.kill(process.pid, 'SIGKILL')`.
   */
  close(options?: CloseOptions): Promise<void>;
}
