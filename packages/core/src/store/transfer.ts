import { type CollectionDefinition, singular, type StoredRecord } from './collection.ts';
import type { KeyRecord, MaybePromise, Store } from './store.ts';
import { StoreError } from './storeError.ts';

/** Stored form of a used idempotency key. */
export interface StoredReservation {
  /** SHA-256 of the caller and the idempotency key as hex, so that neither can be recovered. */
  readonly digest: string;
  readonly fingerprint: string;
  /** Collection of the created record. */
  readonly collection: string;
  readonly recordId: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Reads and writes one collection for a copy. */
export interface CollectionTransfer {
  readonly definition: CollectionDefinition;
  count(): MaybePromise<number>;
  /**
   * Returns records with a greater id, in ascending order by id. It stops after `limit` records, or after the record with
   * which the page reaches `maxBytes`.
   * @param after a safe integer; 0 starts at the first record
   * @param maxBytes default: no limit
   */
  records(after: number, limit: number, maxBytes?: number): MaybePromise<StoredRecord[]>;
  /**
   * Stores records under their ids, except those that exist. They are durable when the promise resolves. After an error some
   * may be stored.
   * @returns the number of records that did not exist
   * @throws {StoreError} `conflict` if a different record has one of the ids
   */
  put(records: readonly StoredRecord[]): Promise<number>;
  /** Returns the highest id that was ever assigned or leased; 0 before the first. */
  lastId(): MaybePromise<number>;
  /** Marks every id up to this one as used, so that no new record gets it. Call it before `put`. */
  raiseLastId(id: number): Promise<void>;
}

export interface CopyableStore extends Store {
  transfer(): StoreTransfer;
}

/**
 * Reads and writes what a store has besides its keys, for a copy. Nothing else may write to either store during a copy. Run an
 * interrupted copy again to complete it: putting data that exists changes nothing.
 * Every implementation fails with a `StoreError`. Opening a store fails if it has a collection that the code does not
 * know, so a copy never omits one.
 */
export interface StoreTransfer {
  readonly collections: readonly CollectionTransfer[];
  /** Unexpired idempotency keys with a record, ascending by digest. @param after '' starts at the first */
  reservations(after: string, limit: number): MaybePromise<StoredReservation[]>;
  /**
   * Stores idempotency keys. Call it after `put`, because a retry looks for the record of its key. An existing key is
   * replaced if the new one expires later: an expired key may have been used again.
   * @throws {StoreError} `conflict` if a key that has not expired belongs to another create. Then none is stored
   */
  putReservations(reservations: readonly StoredReservation[]): Promise<void>;
}

/** Approximate size of a record without its strings, in bytes. */
const ROW_BYTES = 50;

/** Returns a predicate. Called with the records of a batch in order, it returns true once the batch has `maxBytes`. */
export function batchLimit(maxBytes = Infinity): (record: StoredRecord) => boolean {
  let bytes = 0;
  return (record) => {
    bytes += ROW_BYTES;
    for (const value of Object.values(record)) {
      if (typeof value === 'string') bytes += Buffer.byteLength(value);
      else if (typeof value === 'object') bytes += Buffer.byteLength(JSON.stringify(value));
    }
    return bytes >= maxBytes;
  };
}

/** Error for a record of the target that differs from that of the source. */
export const recordConflict = ({ recordName }: CollectionDefinition, id: number) =>
  new StoreError(
    'conflict',
    `The target has a different ${recordName} ${id} than the source. Choose an empty target.`,
  );

/** Whether both are the same key. Ignores `revokedAt` and `lastUsedAt`. */
export const isSameKey = (put: KeyRecord, existing: KeyRecord | undefined): boolean =>
  put.hash === existing?.hash &&
  put.name === existing.name &&
  put.createdAt === existing.createdAt &&
  put.expiresAt === existing.expiresAt;

type ReservedRecord = Omit<StoredReservation, 'digest'>;

/**
 * Whether to store a reservation if `existing` has its digest.
 * @throws {StoreError} `conflict` if `existing` has not expired and belongs to another create
 */
export function shouldPutReservation(
  existing: ReservedRecord | undefined,
  put: StoredReservation,
  now: number,
): boolean {
  if (existing === undefined) return true;
  const isSame =
    existing.fingerprint === put.fingerprint &&
    existing.collection === put.collection &&
    existing.recordId === put.recordId;
  if (!isSame && existing.expiresAt > now) {
    throw new StoreError(
      'conflict',
      `The idempotency key of ${recordLabel(put)} already belongs to another create: ${recordLabel(existing)}.`,
    );
  }
  return existing.expiresAt < put.expiresAt;
}

const recordLabel = ({ collection, recordId }: ReservedRecord) => `${singular(collection)} ${recordId}`;
