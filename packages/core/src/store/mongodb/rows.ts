import { Long } from 'mongodb';
import { type Animal, PetStatus } from '../../schemas.ts';
import type { KeyRecord } from '../store.ts';

/** An int64: written as one, and read as a number where that is exact. */
type Int64 = Long | number;

/** As it is stored: always a 64-bit integer, whatever the value. */
export const int64 = (value: number): Long => Long.fromNumber(value);

/** An animal in the collection `animals`. */
export interface AnimalRow {
  readonly _id: Int64;
  readonly name: string;
  readonly categoryId: Int64;
  readonly status?: PetStatus;
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
  readonly animalId: Int64;
  readonly expiresAt: Date;
  /** Whose it is, by the digest of the caller. Unset in what an earlier version, or a copy, wrote. */
  readonly caller?: string;
}

/** A counter in the collection `counters`, by its name. */
export interface CounterRow {
  readonly _id: 'lastAnimalId';
  readonly last: Int64;
}

export function encodeAnimal({ id, name, categoryId, status }: Animal): AnimalRow {
  const row = { _id: int64(id), name, categoryId: int64(categoryId) };
  return status === undefined ? row : { ...row, status };
}

/** @returns `null` for a document that is not what `encodeAnimal` made: somebody else wrote it */
export function decodeAnimal({ _id: id, name, categoryId, status }: AnimalRow): Animal | null {
  if (!isSafeInteger(id) || typeof name !== 'string' || !isSafeInteger(categoryId)) return null;
  // A status that is absent stays absent.
  if (status === undefined) return { id, name, categoryId };
  return PetStatus.options.includes(status) ? { id, name, categoryId, status } : null;
}

const isSafeInteger = (value: unknown): value is number => Number.isSafeInteger(value);

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
