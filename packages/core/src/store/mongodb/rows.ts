import { isDeepStrictEqual } from 'node:util';
import { type Collection, Long } from 'mongodb';
import type { CollectionDefinition, StoredRecord } from '../collection.ts';
import type { KeyRecord } from '../store.ts';

/** An int64 of the database. It is read as a number if that is exact. */
export type Int64 = Long | number;

/** Encodes an integer as int64, regardless of its size. */
export const int64 = (value: number): Long => Long.fromNumber(value);

/** A stored record: the fields of its schema, and internal fields that begin with `_`. */
export interface RecordRow {
  readonly _id: Int64;
  /** Digest of the idempotency key with which the record was created. */
  readonly _reservation?: string;
  /** Set on a tombstone: the record was deleted, and its id must not be used again. */
  readonly _deletedAt?: Date;
  readonly [field: string]: unknown;
}

/** An API key in the collection `keys`. */
export interface KeyRow {
  /** Hash of the key. */
  readonly _id: string;
  readonly name: string;
  /** From 1, in the order in which the keys were added. */
  readonly number: number;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  readonly lastUsedAt?: Date;
}

/** An idempotency key in the collection `reservations`. */
export interface ReservationRow {
  /** Digest of the caller and the key. */
  readonly _id: string;
  readonly fingerprint: string;
  /** Collection of the record that it creates. */
  readonly collection: string;
  readonly recordId: Int64;
  readonly expiresAt: Date;
  /** Digest of the caller. Unset in rows of a copy. */
  readonly caller?: string;
  /** Whether the record is known to exist. Set by a copy. */
  readonly isComplete?: boolean;
}

/** An id counter in the collection `counters`. */
export interface CounterRow {
  /** Name of the collection of records. */
  readonly _id: string;
  readonly last: Int64;
}

/** Format and collections of the database, in the collection `meta`. */
export interface MetaRow {
  readonly _id: 'store';
  readonly format: number;
  /** Names of the collections of records. */
  readonly collections: readonly string[];
}

export interface Collections {
  /** Returns the MongoDB collection with the records of a collection. */
  readonly records: (name: string) => Collection<RecordRow>;
  readonly keys: Collection<KeyRow>;
  readonly reservations: Collection<ReservationRow>;
  readonly counters: Collection<CounterRow>;
  readonly meta: Collection<MetaRow>;
}

export function encodeRecord(record: StoredRecord): RecordRow {
  const row: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(record)) {
    row[field === 'id' ? '_id' : field] = Number.isSafeInteger(value) ? int64(value as number) : value;
  }
  // `id` has become `_id`.
  return row as unknown as RecordRow;
}

/** Decodes a row without its internal fields. */
export function decodeRow({ _id, _reservation, _deletedAt, ...fields }: RecordRow): StoredRecord {
  return { id: Number(_id), ...fields };
}

/** Decodes a row. @returns `undefined` if the schema rejects it */
export const decodeRecord = <Stored extends StoredRecord>(
  row: RecordRow,
  definition: CollectionDefinition<Stored>,
): Stored | undefined => definition.check(decodeRow(row));

/** Whether two records have equal fields. 0 equals -0, which clients may send and the database stores as 0. */
export function isSameRecord<Stored extends StoredRecord>(
  { fields }: CollectionDefinition<Stored>,
  one: Stored,
  other: Stored | undefined,
): boolean {
  if (other === undefined) return false;
  return fields.every((field) => {
    const [left, right]: unknown[] = [Reflect.get(one, field), Reflect.get(other, field)];
    return left === right || isDeepStrictEqual(left, right);
  });
}

export function encodeKey(record: KeyRecord, number: number): KeyRow {
  const { hash, name, createdAt, expiresAt, revokedAt, lastUsedAt } = record;
  return {
    _id: hash,
    name,
    number,
    createdAt: new Date(createdAt),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
    ...(revokedAt !== undefined && { revokedAt: new Date(revokedAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: new Date(lastUsedAt) }),
  };
}

/** Decodes a row. @returns `null` if something else wrote the document */
export function decodeKey(row: KeyRow): KeyRecord | null {
  const { _id: hash, name, createdAt, expiresAt, revokedAt, lastUsedAt } = row;
  if (typeof name !== 'string' || !(createdAt instanceof Date)) return null;
  return {
    hash,
    name,
    createdAt: createdAt.getTime(),
    ...(expiresAt !== undefined && { expiresAt: expiresAt.getTime() }),
    ...(revokedAt !== undefined && { revokedAt: revokedAt.getTime() }),
    ...(lastUsedAt !== undefined && { lastUsedAt: lastUsedAt.getTime() }),
  };
}
