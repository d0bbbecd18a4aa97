import { createHash } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { NewRecord, StoredRecord } from '../collection.ts';
import { buildRecord, fingerprint, matchesFingerprint } from '../record.ts';
import { MAX_RESERVATIONS, RESERVATION_MS, tooManyReservations } from '../reservationLimit.ts';
import type { Created, Reservation } from '../store.ts';
import type { OpenCollection } from './collection.ts';
import { isDuplicate, type DatabaseLabel, storeError } from './errors.ts';
import type { StoreOperation, OperationRunner } from './operation.ts';
import { int64, type ReservationRow } from './rows.ts';

/**
 * How often a caller's reservations are counted in the database, in milliseconds. Counting takes 50 ms at the limit. In
 * between, a process adds its own reservations to the count, so a caller may exceed the limit by the reservations that other
 * processes create in this time.
 */
const RECOUNT_MS = 60_000;

/** As `RECOUNT_MS`, for a caller that has reached the limit. */
const RECOUNT_AT_LIMIT_MS = 1_000;

/** Number of a caller's unexpired reservations. */
interface ReservationCount {
  count: number;
  countedAt: number;
  /** Pending count, shared by all creates of the caller. */
  counting: Promise<void> | undefined;
}

/**
 * Opens the idempotency keys, each with the id of its record. `createOnce` writes the reservation first, then the record
 * under the reserved id. A call that finds a reservation without a record writes that record, and the unique `_id` ensures
 * that only one of several calls succeeds. The record contains the digest of its reservation, so that it can be recognized
 * after a change or a delete.
 */
export function openReservations(
  rows: Collection<ReservationRow>,
  label: DatabaseLabel,
  operations: OperationRunner,
  maxReservations = MAX_RESERVATIONS,
) {
  const counts = new Map<string, ReservationCount>();

  /** Counts a caller's reservations. Those that this process creates meanwhile may count twice until the next count. */
  async function countReservations(
    caller: string,
    callerCount: ReservationCount,
    now: number,
  ): Promise<void> {
    const before = callerCount.count;
    // A separate operation, because other creates wait for it too, and the caller of this one may abort.
    const counted = await operations.runInternal((operation) =>
      rows.countDocuments(unexpiredFilter(operation, caller, now), {
        ...operation.commandOptions,
        limit: maxReservations,
      }),
    );
    callerCount.count += counted - before;
    callerCount.countedAt = now;
  }

  /**
   * Checks that the caller may use another key, or that the key exists.
   * @throws {StoreError} `too-many-reservations` if the caller has reached the limit
   */
  async function checkLimit(operation: StoreOperation, _id: string, caller: string): Promise<void> {
    const now = Date.now();
    const callerCount = counts.get(caller) ?? { count: 0, countedAt: -Infinity, counting: undefined };
    counts.set(caller, callerCount);
    const isFull = callerCount.count >= maxReservations;
    if (Math.abs(now - callerCount.countedAt) >= (isFull ? RECOUNT_AT_LIMIT_MS : RECOUNT_MS)) {
      callerCount.counting ??= countReservations(caller, callerCount, now).finally(() => {
        callerCount.counting = undefined;
      });
      await callerCount.counting;
    }
    if (callerCount.count < maxReservations) return;
    const existing = await rows.findOne({ _id: operation.trackSend(_id) }, operation.commandOptions);
    if (existing !== null && existing.expiresAt.getTime() > now) return;
    const oldest = await rows.findOne(unexpiredFilter(operation, caller, now), {
      ...operation.commandOptions,
      sort: { expiresAt: 1 },
    });
    throw tooManyReservations(maxReservations, (oldest?.expiresAt.getTime() ?? now) - now);
  }

  /** @returns `false` if the key has a reservation already */
  async function insert(operation: StoreOperation, row: ReservationRow): Promise<boolean> {
    try {
      await rows.insertOne({ ...row, _id: operation.trackSend(row._id) }, operation.commandOptions);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Replaces an expired reservation, which the server's TTL monitor may remove up to a minute late. */
  async function replace(operation: StoreOperation, expired: ReservationRow, row: ReservationRow) {
    const { _id, ...rest } = row;
    // The filter matches all fields, so that one of several concurrent calls replaces it.
    const filter = { ...expired, _id: operation.trackSend(_id) };
    const { modifiedCount } = await rows.replaceOne(filter, rest, operation.commandOptions);
    return modifiedCount === 1;
  }

  /** Reserves the key for this call. @returns the existing reservation if the key is taken */
  async function reserve(
    operation: StoreOperation,
    row: ReservationRow,
  ): Promise<ReservationRow | undefined> {
    while (!(await insert(operation, row))) {
      const existing = await rows.findOne({ _id: operation.trackSend(row._id) }, operation.commandOptions);
      if (existing !== null && existing.expiresAt.getTime() > Date.now()) return existing;
      if (existing !== null && (await replace(operation, existing, row))) return undefined;
      // The TTL monitor removed it, another call replaced it, or the majority has not confirmed it yet.
      await operation.pause();
    }
    return undefined;
  }

  const expiredError = () =>
    storeError('outcome-unknown', label, 'its reservation expired before the record was written');

  /**
   * Stores a record under its reserved id, or waits until another call with the same key has stored it.
   * @returns `false` if another record has the id
   * @throws {StoreError} `conflict` if another record has one of its unique values
   */
  async function insertRecord<Stored extends StoredRecord>(
    operation: StoreOperation,
    records: OpenCollection<Stored>,
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

  /** Reserves another id. One of several concurrent calls succeeds, and the others return the id that it reserved. */
  async function reassignId(
    operation: StoreOperation,
    id: number,
    row: ReservationRow,
  ): Promise<ReservationRow> {
    const { _id, ...rest } = row;
    const recordId = int64(id);
    for (;;) {
      const filter = { ...rest, _id: operation.trackSend(_id) };
      const { modifiedCount } = await rows.updateOne(
        filter,
        { $set: { recordId } },
        operation.commandOptions,
      );
      if (modifiedCount === 1) return { ...row, recordId };
      const existing = await rows.findOne({ _id: operation.trackSend(_id) }, operation.commandOptions);
      // The reservation expired, and another create may use the key now.
      if (existing?.expiresAt.getTime() !== row.expiresAt.getTime()) throw expiredError();
      if (Number(existing.recordId) !== Number(row.recordId)) return existing;
      // The majority has not confirmed the other call's id yet.
      await operation.pause();
    }
  }

  /**
   * Stores the record of a reservation. If another record has the id, because the counter was less than the ids of stored
   * records, it reserves a new id first.
   */
  async function complete<Stored extends StoredRecord>(
    operation: StoreOperation,
    records: OpenCollection<Stored>,
    values: NewRecord<Stored>,
    reserved: ReservationRow,
  ): Promise<Stored> {
    for (let row = reserved; ;) {
      // The process was suspended for a day, and another create may use the key now.
      if (row.expiresAt.getTime() <= Date.now()) throw expiredError();
      const record = buildRecord(records.definition, Number(row.recordId), values);
      if (await insertRecord(operation, records, record, row._id)) return record;
      await records.ids.skipPast(operation, record.id);
      row = await reassignId(operation, await records.ids.take(), row);
    }
  }

  async function replay<Stored extends StoredRecord>(
    operation: StoreOperation,
    records: OpenCollection<Stored>,
    values: NewRecord<Stored>,
    existing: ReservationRow,
  ): Promise<Created<Stored>> {
    // The fingerprint ensures that a retry has the values of the first call.
    const record = buildRecord(records.definition, Number(existing.recordId), values);
    if (existing.isComplete === true) return { record, isReplay: true };
    const row = await records.find(operation, record.id);
    if (row !== null && records.belongsTo(row, record, existing._id)) return { record, isReplay: true };
    return { record: await complete(operation, records, values, existing), isReplay: true };
  }

  return {
    async createOnce<Stored extends StoredRecord>(
      operation: StoreOperation,
      records: OpenCollection<Stored>,
      values: NewRecord<Stored>,
      reservation: Reservation,
      afterReservation?: (reservation: Reservation) => Promise<void>,
    ): Promise<Created<Stored>> {
      const { definition, ids } = records;
      const caller = callerDigest(reservation);
      const _id = reservationDigest(reservation);
      await checkLimit(operation, _id, caller);
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
      if (existing !== undefined) {
        if (
          existing.collection !== row.collection ||
          !matchesFingerprint(definition, values, existing.fingerprint)
        ) {
          throw storeError('key-reused', label);
        }
        return replay(operation, records, values, existing);
      }
      const callerCount = counts.get(caller);
      if (callerCount !== undefined) callerCount.count += 1;
      await afterReservation?.(reservation);
      return { record: await complete(operation, records, values, row), isReplay: false };
    },
  };
}

/** Matches the unexpired reservations of a caller. */
const unexpiredFilter = (operation: StoreOperation, caller: string, now: number) => ({
  caller: operation.trackSend(caller),
  expiresAt: { $gt: new Date(now) },
});

/** Returns the SHA-256 of the caller, so that the hash of its API key cannot be read from the database. */
const callerDigest = ({ caller }: Reservation) => createHash('sha256').update(caller).digest('hex');

/** Returns the `_id` of a reservation. Same as in the embedded store, so that reservations can be copied. */
const reservationDigest = ({ caller, key }: Reservation) =>
  createHash('sha256').update(`${caller}\n${key}`).digest('hex');
