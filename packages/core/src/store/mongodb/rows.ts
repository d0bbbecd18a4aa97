import { isDeepStrictEqual } from 'node:util';
import { Long } from 'mongodb';
import type { CollectionDefinition, StoredRecord } from '../collection.ts';
import type { KeyRecord } from '../store.ts';

/** An int64: written as one, and read as a number where that is exact. */
export type Int64 = Long | number;

/** As it is stored: always a 64-bit integer, whatever the value. */
export const int64 = (value: number): Long => Long.fromNumber(value);

/** A record, by its id: the fields of its schema, and the store's own, which begin with _. */
export interface RecordRow {
  readonly _id: Int64;
  /** The digest of the idempotency key under which it was created. */
  readonly _reservation?: string;
  /** It was deleted: what is left keeps its id from being used again. */
  readonly _deletedAt?: Date;
  readonly [field: string]: unknown;
}

/** A key in the collection `keys`, by its hash. */
export interface KeyRow {
  readonly _id: string;
  readonly name: string;
  /** From 1, in the order in which the keys were added. */
  readonly number: number;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  readonly lastUsedAt?: Date;
}

/** An idempotency key in the collection `reservations`, by its digest. */
export interface ReservationRow {
  readonly _id: string;
  readonly fingerprint: string;
  /** The record that it creates. */
  readonly collection: string;
  readonly recordId: Int64;
  readonly expiresAt: Date;
  /** Whose it is, by the digest of the caller. Unset in what an earlier version, or a copy, wrote. */
  readonly caller?: string;
  /** Whether its record was created for certain: a copy wrote it. */
  readonly isComplete?: boolean;
}

/** A counter in the collection `counters`: the ids of a collection, by its name. */
export interface CounterRow {
  readonly _id: string;
  readonly last: Int64;
}

/** What the database holds, in the collection `meta`. */
export interface MetaRow {
  readonly _id: 'store';
  readonly format: number;
  /** The names of the collections of records. */
  readonly collections: readonly string[];
}

export function encodeRecord(record: StoredRecord): RecordRow {
  const row: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(record)) {
    row[field === 'id' ? '_id' : field] = Number.isSafeInteger(value) ? int64(value as number) : value;
  }
  // Its id became `_id`.
  return row as unknown as RecordRow;
}

/** @returns `undefined` for a document that is not what `encodeRecord` made: something else wrote it */
export function decodeRecord<Stored extends StoredRecord>(
  row: RecordRow,
  definition: CollectionDefinition<Stored>,
): Stored | undefined {
  const { _id: id, _reservation, _deletedAt, ...fields } = row;
  return definition.check({ id, ...fields });
}

/** Whether both are one record, field by field: a database knows no -0, which a client may send. */
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

/** @returns `null` for a document that is not what `encodeKey` made */
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
