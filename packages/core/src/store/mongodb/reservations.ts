import { createHash } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { NewRecord, StoredRecord } from '../collection.ts';
import { buildRecord, fingerprint, RESERVATION_MS } from '../record.ts';
import type { Created, Reservation } from '../store.ts';
import type { Records } from './collection.ts';
import { type DatabaseLabel, isInserted, storeError } from './errors.ts';
import type { StoreOperation } from './operation.ts';
import type { ReservationCounts } from './reservationCounts.ts';
import { int64, type ReservationRow } from './rows.ts';

export interface ReservationsOptions {
  readonly rows: Collection<ReservationRow>;
  readonly counts: ReservationCounts;
  readonly label: DatabaseLabel;
  /** For tests only. `createOnce` awaits it between writing the reservation and writing the record. */
  readonly afterReservation: ((reservation: Reservation) => Promise<void>) | undefined;
}

/**
 * The idempotency keys, each with the id of its record. `createOnce` writes the reservation first, then the record
 * under the reserved id. A call that finds a reservation without a record writes that record, and the unique `_id` ensures
 * that only one of several calls succeeds. The record contains the digest of its reservation, so that it can be recognized
 * after a change or a delete.
 */
export function openReservations({ rows, counts, label, afterReservation }: ReservationsOptions) {
  async function createOnce<Stored extends StoredRecord>(
    operation: StoreOperation,
    records: Records<Stored, string>,
    values: NewRecord<Stored>,
    reservation: Reservation,
  ): Promise<Created<Stored>> {
    const { definition, ids } = records;
    const caller = callerDigest(reservation);
    const _id = reservationDigest(reservation);
    await counts.check(operation, _id, caller);
    for (;;) {
      const row: ReservationRow = {
        _id,
        fingerprint: fingerprint(definition, values),
        collection: definition.name,
        recordId: int64(await ids.take()),
        expiresAt: new Date(Date.now() + RESERVATION_MS),
        caller,
      };
      // Validates the record before the reservation is written.
      buildRecord(definition, Number(row.recordId), values);
      const existing = await reserve(operation, row);
      // From here on other calls may store the record, even if this one fails.
      operation.writeOutcome = 'unknown';
      if (existing === undefined) {
        counts.add(caller);
        await afterReservation?.(reservation);
      } else if (existing.collection !== row.collection || existing.fingerprint !== row.fingerprint) {
        throw storeError('key-reused', label);
      }
      const reserved = existing ?? row;
      const record = await complete(operation, records, values, reserved);
      if (record !== undefined) return { record, isReplay: existing !== undefined };
      const { recordId } = reserved;
      // It cannot be completed. Of concurrent calls, one reserves the key again.
      await rows.deleteOne({ _id: operation.trackSend(_id), recordId }, operation.commandOptions);
      await ids.skipPast(operation, Number(recordId));
    }
  }

  /** Reserves the key for this call. @returns the existing reservation if the key is taken */
  async function reserve(
    operation: StoreOperation,
    row: ReservationRow,
  ): Promise<ReservationRow | undefined> {
    const _id = operation.trackSend(row._id);
    while (!(await isInserted(rows.insertOne({ ...row, _id }, operation.commandOptions)))) {
      const existing = await rows.findOne({ _id }, operation.commandOptions);
      if (existing !== null && existing.expiresAt.getTime() > Date.now()) return existing;
      if (existing !== null && (await replace(operation, existing, row))) return undefined;
      // The TTL monitor removed it, another call replaced it, or the majority has not confirmed it yet.
      await operation.pause();
    }
    return undefined;
  }

  /**
   * Returns the record of a reservation, and stores it if it does not exist.
   * @returns `undefined` if another record has its id, because the counter was less than the ids of stored records
   */
  async function complete<Stored extends StoredRecord>(
    operation: StoreOperation,
    records: Records<Stored, string>,
    values: NewRecord<Stored>,
    row: ReservationRow,
  ): Promise<Stored | undefined> {
    // The fingerprint ensures that a retry has the values of the first call.
    const record = buildRecord(records.definition, Number(row.recordId), values);
    if (row.isComplete === true) return record;
    // The process was suspended for a day, and another create may use the key now.
    if (row.expiresAt.getTime() <= Date.now()) {
      const why = 'its reservation expired before the record was written';
      throw storeError('outcome-unknown', label, why);
    }
    return (await insertReserved(operation, records, record, row._id)) ? record : undefined;
  }

  /** Replaces an expired reservation, which the server's TTL monitor may remove up to a minute late. */
  async function replace(
    operation: StoreOperation,
    expired: ReservationRow,
    row: ReservationRow,
  ): Promise<boolean> {
    const { _id, ...rest } = row;
    // The filter matches all fields, so that one of several concurrent calls replaces it.
    const filter = { ...expired, _id: operation.trackSend(_id) };
    const { modifiedCount } = await rows.replaceOne(filter, rest, operation.commandOptions);
    return modifiedCount === 1;
  }

  return { createOnce };
}

/**
 * Stores a record under its reserved id, or waits until another call with the same key has stored it.
 * @returns `false` if another record has the id
 * @throws {StoreError} `conflict` if another record has one of its unique values
 */
async function insertReserved<Stored extends StoredRecord>(
  operation: StoreOperation,
  records: Records<Stored, string>,
  record: Stored,
  reservation: string,
): Promise<boolean> {
  for (;;) {
    if (await records.insert(operation, record, reservation)) return true;
    // The record exists. Reads with read concern `majority` return it when a majority has it on disk.
    const row = await records.find(operation, record.id);
    if (row !== null) return records.belongsTo(row, record, reservation);
    await records.checkUnique(operation, record);
    await operation.pause();
  }
}

/** Returns the SHA-256 of the caller, so that the hash of its API key cannot be read from the database. */
const callerDigest = ({ caller }: Reservation) => createHash('sha256').update(caller).digest('hex');

/** Returns the `_id` of a reservation. Same as in the embedded store, so that reservations can be copied. */
const reservationDigest = ({ caller, key }: Reservation) =>
  createHash('sha256').update(`${caller}\n${key}`).digest('hex');
