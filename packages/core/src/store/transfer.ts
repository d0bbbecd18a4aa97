import { type CollectionDefinition, singular, type StoredRecord } from './collection.ts';
import type { MaybePromise, KeyRecord } from './store.ts';
import { StoreError } from './storeError.ts';

/** An idempotency key that was used, as it is stored. */
export interface StoredReservation {
  /** SHA-256 of the caller and its key, hex: what both are cannot be read from it. */
  readonly digest: string;
  readonly fingerprint: string;
  /** The record that was created. */
  readonly collection: string;
  readonly recordId: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** One collection of a store, for a copy. */
export interface CollectionTransfer {
  readonly definition: CollectionDefinition;
  count(): MaybePromise<number>;
  /**
   * Records with a greater id, in ascending order of id: at most so many, and none after those that have so many bytes.
   * @param after a safe integer; 0: from the start
   * @param maxBytes default: any number
   */
  records(after: number, limit: number, maxBytes?: number): MaybePromise<StoredRecord[]>;
  /**
   * Stores records under the ids that they have; durable when it resolves. After a failure some may be stored.
   * @throws {StoreError} `conflict` where another record has one of the ids
   */
  put(records: readonly StoredRecord[]): Promise<void>;
  /** The highest id that was ever given, or is reserved to be; 0 before the first. */
  lastId(): MaybePromise<number>;
  /** Makes every id up to this one count as given, so that no new record gets it. Call it before records are put. */
  raiseLastId(id: number): Promise<void>;
}

/**
 * What a copy from one store to another needs. Nothing else may write to either of them meanwhile. A copy that was
 * interrupted is done again from where the target ends: to put what is there already changes nothing.
 * Every implementation fails with a `StoreError`. To open a store that has a collection which the code does not know is
 * an error: a copy never leaves one out.
 */
export interface StoreTransfer {
  /** Every collection of the store. */
  readonly collections: readonly CollectionTransfer[];
  /** Whether nothing was ever stored: no record, no key, no id given. */
  isEmpty(): MaybePromise<boolean>;
  /** Every key as it is stored, in the order in which they were added. */
  keys(): MaybePromise<KeyRecord[]>;
  /**
   * Adds keys whole, with their marks, after those that are there. A key that is there takes over a later use, and a
   * revocation where it has none: it was used or revoked since it was copied. It is never made good again.
   * @throws {StoreError} `conflict` where a name or a hash is there with another key
   */
  putKeys(keys: readonly KeyRecord[]): Promise<void>;
  /** Idempotency keys that have not expired and whose record was stored, in ascending order of digest. @param after a digest; '': from the start */
  reservations(after: string, limit: number): MaybePromise<StoredReservation[]>;
  /**
   * Puts them after their records: a repeat finds the one by the other. What is there stays where it is the same, and
   * gives way to what expires later: a key that had expired may have been used again.
   * @throws {StoreError} `conflict` where one that has not expired stands for another create; none is put then
   */
  putReservations(reservations: readonly StoredReservation[]): Promise<void>;
  close(): Promise<void>;
}

/** What a record takes besides its texts, in bytes, about. */
const ROW_BYTES = 50;

/** Returns for each record of a batch, in order, whether it is the last that fits. */
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

/** Whether both are one key, whatever was marked on it since. */
export const isSameKey = (put: KeyRecord, existing: KeyRecord | undefined): boolean =>
  put.hash === existing?.hash &&
  put.name === existing.name &&
  put.createdAt === existing.createdAt &&
  put.expiresAt === existing.expiresAt;

type ReservedRecord = Omit<StoredReservation, 'digest'>;

/** Whether a reservation is to be put where `there` is found under its digest. @throws {StoreError} `conflict` */
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
      `An idempotency key of ${recordLabel(put)} is there already, for another create: ${recordLabel(existing)}.`,
    );
  }
  return existing.expiresAt < put.expiresAt;
}

const recordLabel = ({ collection, recordId }: ReservedRecord) => `${singular(collection)} ${recordId}`;
