import type { Animal, NewPet, PetStatus } from '../schemas.ts';

/** A value now, or a promise of it: an embedded store answers at once, a database later. */
export type Awaitable<T> = T | Promise<T>;

export interface CallOptions {
  /** Aborts when nobody waits for the answer any more. A write that has begun is completed all the same. */
  readonly signal?: AbortSignal | undefined;
}

export interface CloseOptions {
  /** How long the writes under way may take, in milliseconds. Default: as long as they need. */
  readonly deadlineMs?: number | undefined;
}

export interface ListQuery {
  /** How many at most: 1 to 100. */
  readonly limit: number;
  /** Only animals of this status. */
  readonly status?: PetStatus | undefined;
  /** Only animals whose id is greater: a safe integer. */
  readonly cursor?: number | undefined;
}

export interface Page {
  /** In ascending order of id. */
  readonly animals: Animal[];
  /** Whether an animal that fits the query comes after the last of these. */
  readonly hasNext: boolean;
}

/** Who asks for a create that must happen once, and for what. */
export interface Reservation {
  /** The caller, by the hash of its API key: one caller's keys mean nothing to another. */
  readonly caller: string;
  /** The `Idempotency-Key`: 1 to 255 visible ASCII characters. */
  readonly key: string;
  /** SHA-256 of the input, base64url: one key is good for one input. */
  readonly fingerprint: string;
}

/** The outcome of a create that must happen once. */
export interface Created {
  readonly animal: Animal;
  /** Whether an earlier call stored it. */
  readonly isReplay: boolean;
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
  find(hash: string, options?: CallOptions): Awaitable<KeyRecord | undefined>;
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
  list(): Awaitable<KeyRecord[]>;
  /** @returns the revoked record; `undefined` where no key has this name. Revoking again changes nothing. */
  revoke(name: string, revokedAt: number): Promise<KeyRecord | undefined>;
  /** Keeps when a key was used, where that is later than what is known; a key that is not there is passed over. */
  touch(hash: string, usedAt: number): Promise<void>;
}

/**
 * Where animals and keys are kept. Everything a promise resolved for is durable. A failure is a `StoreError`.
 * `contract.ts` is the suite that every implementation passes.
 */
export interface Store {
  readonly keys: KeyStore;
  /**
   * Stores an animal under a new id: a positive safe integer, never given before. A status that is absent stays
   * absent. Resolves when it is on disk.
   */
  create(pet: NewPet, options?: CallOptions): Promise<Animal>;
  /**
   * Stores an animal once, however often it is asked to under one reservation within 24 hours: at the same time, again
   * later, or after a crash. Every call resolves with the same animal, when it is on disk.
   * @throws {StoreError} `key-reused` where the key was used with another input
   * @throws {StoreError} `too-many-reservations` where the caller has used 100,000 keys within a day. A repeat is served
   */
  createOnce(pet: NewPet, reservation: Reservation, options?: CallOptions): Promise<Created>;
  get(id: number, options?: CallOptions): Awaitable<Animal | undefined>;
  list(query: ListQuery, options?: CallOptions): Awaitable<Page>;
  /** Resolves where the store can serve. @throws {StoreError} that says why it cannot */
  ready(): Awaitable<void>;
  /**
   * Waits for calls under way, then gives everything back. Calls afterwards fail with `closed`.
   * @throws {StoreError} `outcome-unknown` where a write has not ended by the deadline. Its thread still runs, and
   *   `process.exit` waits for it: such a process ends only by a signal, such as `process.kill(process.pid, 'SIGKILL')`.
   */
  close(options?: CloseOptions): Promise<void>;
}
