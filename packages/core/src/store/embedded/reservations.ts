import { createHash } from 'node:crypto';
import type { Database } from 'lmdb';
import type { Reservation } from '../store.ts';
import { StoreError } from '../storeError.ts';
import { damaged } from './errors.ts';
import type { DataFolder } from './open.ts';
import { type Decoded, jsonRow } from './rows.ts';
import { collect, openTable, put } from './table.ts';

/** How long a repeat is known as one, in milliseconds: 24 hours. */
const reservationMs = 86_400_000;

/** How many expired reservations one new one clears away: more than one, so that none are left in the end. */
const swept = 4;

const NOTHING = Buffer.alloc(0);

interface StoredReservation {
  readonly fingerprint: string;
  readonly animalId: number;
  readonly expiresAt: number;
}

/**
 * Idempotency keys, each with the animal that was created under it. Since animal and reservation are written in one
 * transaction, neither is ever there without the other. What writes belongs inside a write transaction.
 */
export function openReservations(folder: DataFolder) {
  const { path, root } = folder;
  const reservations: Database<Decoded<StoredReservation>, Uint8Array> = openTable(root, 'reservations', {
    encoder: jsonRow<StoredReservation>(),
    keyEncoding: 'binary',
  });
  // By when they expire: what is to be cleared away stands first.
  const expiries: Database<Buffer, Uint8Array> = openTable(root, 'reservations.expiries', {
    encoding: 'binary',
    keyEncoding: 'binary',
  });

  function sweep(now: number): void {
    for (const expiry of collect(expiries.getKeys({ end: expiryKey(now), limit: swept }))) {
      // Copied: what lmdb hands out lives until its next read.
      const entry = Buffer.from(expiry);
      expiries.removeSync(entry);
      const key = entry.subarray(8);
      // Not one that was used again after it had expired: that has a later entry too.
      if ((reservations.get(key)?.expiresAt ?? 0) <= now) reservations.removeSync(key);
    }
  }

  return {
    /**
     * The animal that was created under a reservation; `undefined` where it is new, or has expired.
     * @throws {StoreError} `key-reused`
     */
    find(reservation: Reservation, now: number): number | undefined {
      const stored = reservations.get(reservationKey(reservation));
      if (stored === null) throw damaged(path, 'the record of an idempotency key is not what was stored');
      if (stored === undefined || stored.expiresAt <= now) return undefined;
      if (stored.fingerprint === reservation.fingerprint) return stored.animalId;
      throw new StoreError('key-reused', 'The idempotency key was used with another input.');
    },

    add(reservation: Reservation, animalId: number, now: number): void {
      sweep(now);
      const key = reservationKey(reservation);
      const expiresAt = now + reservationMs;
      put(reservations, key, { fingerprint: reservation.fingerprint, animalId, expiresAt });
      put(expiries, Buffer.concat([expiryKey(expiresAt), key]), NOTHING);
    },
  };
}

/** 32 bytes, whatever the caller and the key are: LMDB takes no long keys. */
const reservationKey = ({ caller, key }: Reservation) =>
  createHash('sha256').update(`${caller}\n${key}`).digest();

function expiryKey(at: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(at);
  return bytes;
}
