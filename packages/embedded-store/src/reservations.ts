import { createHash } from 'node:crypto';
import type { Database } from 'lmdb';
import {
  MAX_RESERVATIONS,
  type Reservation,
  RESERVATION_MS,
  shouldPutReservation,
  type StoredReservation,
  StoreError,
  tooManyReservations,
} from '@petstore/core/store';
import { damaged } from './errors.ts';
import type { DataFolder } from './folder.ts';
import { type Decoded, jsonRow, type ReservationRow } from './rows.ts';
import { collect, EMPTY_VALUE, openTable, put, type TableRoot } from './table.ts';

/** Number of expired reservations that each new one removes: more than one, so that none accumulate. */
const SWEEP_COUNT = 4;

const HOUR_MS = 3_600_000;

/** Number of hours for which a reservation counts after the hour of its creation. It has expired by the end of them. */
const COUNTED_HOURS = 24;

/** Number of a caller's reservations per hour since the epoch, in ascending order. Only hours that still count. */
interface CallerRow {
  readonly made: (readonly [hour: number, count: number])[];
}

export function openReservationTables({ root }: TableRoot) {
  const reservations: Database<Decoded<ReservationRow>, Uint8Array> = openTable(root, 'reservations', {
    encoder: jsonRow<ReservationRow>(),
    keyEncoding: 'binary',
  });
  // By expiry time, so that expired entries come first.
  const expiries: Database<Buffer, Uint8Array> = openTable(root, 'reservations.expiries', {
    encoding: 'binary',
    keyEncoding: 'binary',
  });
  // Number of reservations by caller.
  const callers: Database<Decoded<CallerRow>, Uint8Array> = openTable(root, 'reservations.callers', {
    encoder: jsonRow<CallerRow>(),
    keyEncoding: 'binary',
  });
  return { reservations, expiries, callers };
}

/**
 * Opens the idempotency keys with the ids of their created records. Call the writing methods inside a write transaction:
 * the record and its reservation are written in the same one.
 */
export function openReservations(folder: DataFolder, maxReservations = MAX_RESERVATIONS) {
  const { path } = folder;
  const { reservations, expiries, callers } = openReservationTables(folder);

  function sweep(now: number): void {
    for (const expiry of collect(expiries.getKeys({ end: expiryKey(now), limit: SWEEP_COUNT }))) {
      // Copied, because lmdb's buffers are valid only until its next read.
      const entry = Buffer.from(expiry);
      expiries.removeSync(entry);
      const key = entry.subarray(8);
      // Keep a key that was used again after it expired: it has a later entry too.
      if ((reservations.get(key)?.expiresAt ?? 0) <= now) reservations.removeSync(key);
    }
  }

  function store(key: Uint8Array, row: ReservationRow): void {
    put(reservations, key, row);
    put(expiries, expiryEntry(row.expiresAt, key), EMPTY_VALUE);
  }

  function checked<T>(row: T | null): T {
    if (row === null) throw damaged(path, 'the record of an idempotency key is invalid');
    return row;
  }

  return {
    /**
     * Returns the id of the record that was created under a reservation; `undefined` if it is new or has expired.
     * @throws {StoreError} `key-reused` if the key was used with other values or for another collection
     */
    find(
      reservation: Reservation,
      input: Pick<ReservationRow, 'collection' | 'fingerprint'>,
      now: number,
    ): number | undefined {
      const stored = checked(reservations.get(reservationKey(reservation)));
      if (stored === undefined || stored.expiresAt <= now) return undefined;
      const isSame = stored.collection === input.collection && stored.fingerprint === input.fingerprint;
      if (isSame) return stored.recordId;
      throw new StoreError('key-reused', 'The idempotency key was used with another input.');
    },

    /**
     * Checks that the caller may use another key.
     * @returns the caller's counts including this key, for `add`
     * @throws {StoreError} `too-many-reservations` if the caller has reached the limit
     */
    checkLimit({ caller }: Reservation, now: number): CallerRow {
      const hour = Math.floor(now / HOUR_MS);
      const hours = (checked(callers.get(callerKey(caller)))?.made ?? []).filter(
        ([at]) => at >= hour - COUNTED_HOURS && at <= hour,
      );
      const total = hours.reduce((sum, [, count]) => sum + count, 0);
      if (total >= maxReservations) {
        throw tooManyReservations(
          maxReservations,
          ((hours[0]?.[0] ?? hour) + COUNTED_HOURS + 1) * HOUR_MS - now,
        );
      }
      const thisHour = hours.at(-1)?.[0] === hour ? (hours.pop()?.[1] ?? 0) : 0;
      return { made: [...hours, [hour, thisHour + 1]] };
    },

    /** Stores a reservation and the counts of its caller, which `checkLimit` returned. */
    add(
      reservation: Reservation,
      created: Pick<ReservationRow, 'collection' | 'fingerprint' | 'recordId'>,
      now: number,
      callerRow: CallerRow,
    ): void {
      sweep(now);
      put(callers, callerKey(reservation.caller), callerRow);
      store(reservationKey(reservation), { ...created, expiresAt: now + RESERVATION_MS });
    },

    /** Returns unexpired reservations with a greater digest, in ascending order by digest. */
    list(after: string, limit: number, now: number): StoredReservation[] {
      const range = reservations.getRange({ start: Buffer.from(after, 'hex'), exclusiveStart: true });
      const unexpired = range
        .map(({ key, value }) => {
          const { fingerprint, collection, recordId, expiresAt } = checked(value);
          return { digest: Buffer.from(key).toString('hex'), fingerprint, collection, recordId, expiresAt };
        })
        .filter(({ expiresAt }) => expiresAt > now);
      return collect(unexpired, limit);
    },

    /** Stores another store's reservations. @throws {StoreError} `conflict`, before it writes anything */
    restore(incoming: readonly StoredReservation[], now: number): void {
      const missing = incoming.filter((each) =>
        shouldPutReservation(checked(reservations.get(Buffer.from(each.digest, 'hex'))), each, now),
      );
      for (const { digest, ...row } of missing) store(Buffer.from(digest, 'hex'), row);
    },
  };
}

/** Returns 32 bytes for any caller and key, because LMDB limits the length of keys. */
const reservationKey = ({ caller, key }: Reservation) =>
  createHash('sha256').update(`${caller}\n${key}`).digest();

const callerKey = (caller: string) => createHash('sha256').update(caller).digest();

/** Returns the key of a reservation in the table of expiry times. */
export const expiryEntry = (expiresAt: number, key: Uint8Array) => Buffer.concat([expiryKey(expiresAt), key]);

function expiryKey(at: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(at);
  return bytes;
}
