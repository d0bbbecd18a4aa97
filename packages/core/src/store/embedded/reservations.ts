import { createHash } from 'node:crypto';
import type { Database } from 'lmdb';
import type { Decoded } from '../rowCodec.ts';
import type { Reservation } from '../store.ts';
import { MAX_RESERVATIONS, tooManyReservations } from '../reservationLimit.ts';
import { StoreError } from '../storeError.ts';
import { type StoredReservation, shouldPutReservation } from '../transfer.ts';
import { damaged } from './errors.ts';
import type { DataFolder } from './folder.ts';
import { jsonRow } from './rows.ts';
import { collect, openTable, put, type TableRoot } from './table.ts';

/** How long a repeat is known as one, in milliseconds: 24 hours. */
const RESERVATION_MS = 86_400_000;

/** How many expired reservations one new one clears away: more than one, so that none are left in the end. */
const SWEEP_COUNT = 4;

const HOUR_MS = 3_600_000;

/** For how many hours after the one in which it was made a reservation counts: until it has expired for certain. */
const COUNTED_HOURS = 24;

const EMPTY_VALUE = Buffer.alloc(0);

/** How many reservations a caller made in which hour since the epoch, in ascending order: those that count. */
interface CallerRow {
  readonly made: (readonly [hour: number, count: number])[];
}

/** It stands under its digest. */
export type ReservationRow = Omit<StoredReservation, 'digest'>;

export function openReservationTables({ root }: TableRoot) {
  const reservations: Database<Decoded<ReservationRow>, Uint8Array> = openTable(root, 'reservations', {
    encoder: jsonRow<ReservationRow>(),
    keyEncoding: 'binary',
  });
  // By when they expire: what is to be cleared away stands first.
  const expiries: Database<Buffer, Uint8Array> = openTable(root, 'reservations.expiries', {
    encoding: 'binary',
    keyEncoding: 'binary',
  });
  // How many each caller made.
  const callers: Database<Decoded<CallerRow>, Uint8Array> = openTable(root, 'reservations.callers', {
    encoder: jsonRow<CallerRow>(),
    keyEncoding: 'binary',
  });
  return { reservations, expiries, callers };
}

/**
 * Idempotency keys, each with the record that was created under it. Record and reservation are written in one
 * transaction. What writes belongs inside a write transaction.
 */
export function openReservations(folder: DataFolder, maxReservations = MAX_RESERVATIONS) {
  const { path } = folder;
  const { reservations, expiries, callers } = openReservationTables(folder);

  function sweep(now: number): void {
    for (const expiry of collect(expiries.getKeys({ end: expiryKey(now), limit: SWEEP_COUNT }))) {
      // Copied: what lmdb hands out lives until its next read.
      const entry = Buffer.from(expiry);
      expiries.removeSync(entry);
      const key = entry.subarray(8);
      // Not one that was used again after it had expired: that has a later entry too.
      if ((reservations.get(key)?.expiresAt ?? 0) <= now) reservations.removeSync(key);
    }
  }

  function store(key: Uint8Array, row: ReservationRow): void {
    put(reservations, key, row);
    put(expiries, expiryEntry(row.expiresAt, key), EMPTY_VALUE);
  }

  function checked<T>(row: T | null): T {
    if (row === null) throw damaged(path, 'the record of an idempotency key is not what was stored');
    return row;
  }

  return {
    /**
     * The id of the record that was created under a reservation; `undefined` where it is new, or has expired.
     * @throws {StoreError} `key-reused`
     */
    find(reservation: Reservation, collection: string, fingerprint: string, now: number): number | undefined {
      const stored = checked(reservations.get(reservationKey(reservation)));
      if (stored === undefined || stored.expiresAt <= now) return undefined;
      if (stored.fingerprint === fingerprint && stored.collection === collection) return stored.recordId;
      throw new StoreError('key-reused', 'The idempotency key was used with another input.');
    },

    /**
     * Whether the caller may make one more.
     * @returns what `add` stores of the caller
     * @throws {StoreError} `too-many-reservations`
     */
    checkLimit({ caller }: Reservation, now: number): CallerRow {
      const hour = Math.floor(now / HOUR_MS);
      const made = (checked(callers.get(callerKey(caller)))?.made ?? []).filter(
        ([at]) => at >= hour - COUNTED_HOURS && at <= hour,
      );
      const total = made.reduce((sum, [, count]) => sum + count, 0);
      if (total >= maxReservations) {
        throw tooManyReservations(
          maxReservations,
          ((made[0]?.[0] ?? hour) + COUNTED_HOURS + 1) * HOUR_MS - now,
        );
      }
      const thisHour = made.at(-1)?.[0] === hour ? (made.pop()?.[1] ?? 0) : 0;
      return { made: [...made, [hour, thisHour + 1]] };
    },

    add(
      reservation: Reservation,
      created: Pick<ReservationRow, 'collection' | 'fingerprint' | 'recordId'>,
      now: number,
      checkLimit: CallerRow,
    ): void {
      sweep(now);
      put(callers, callerKey(reservation.caller), checkLimit);
      store(reservationKey(reservation), { ...created, expiresAt: now + RESERVATION_MS });
    },

    /** Those that have not expired, in ascending order of digest, after one: at most so many. */
    list(after: string, limit: number, now: number): StoredReservation[] {
      const range = reservations.getRange({ start: Buffer.from(after, 'hex'), exclusiveStart: true });
      const list = range
        .map(({ key, value }) => {
          const { fingerprint, collection, recordId, expiresAt } = checked(value);
          return { digest: Buffer.from(key).toString('hex'), fingerprint, collection, recordId, expiresAt };
        })
        .filter(({ expiresAt }) => expiresAt > now);
      return collect(list, limit);
    },

    /**
     * Puts some as they were stored elsewhere. Only inside a write transaction.
     * @throws {StoreError} `conflict`, before it writes
     */
    restore(stored: readonly StoredReservation[], now: number): void {
      const missing = stored.filter((each) =>
        shouldPutReservation(checked(reservations.get(Buffer.from(each.digest, 'hex'))), each, now),
      );
      for (const { digest, ...row } of missing) store(Buffer.from(digest, 'hex'), row);
    },
  };
}

/** 32 bytes, whatever the caller and the key are: LMDB takes no long keys. */
const reservationKey = ({ caller, key }: Reservation) =>
  createHash('sha256').update(`${caller}\n${key}`).digest();

const callerKey = (caller: string) => createHash('sha256').update(caller).digest();

/** The key of a reservation in the index of expiry times. */
export const expiryEntry = (expiresAt: number, key: Uint8Array) => Buffer.concat([expiryKey(expiresAt), key]);

function expiryKey(at: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(at);
  return bytes;
}
