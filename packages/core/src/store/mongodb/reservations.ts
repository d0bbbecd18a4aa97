import { createHash } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { NewRecord, StoredRecord } from '../collection.ts';
import { fingerprint, buildRecord } from '../record.ts';
import { MAX_RESERVATIONS, tooManyReservations } from '../reservationLimit.ts';
import type { Created, Reservation } from '../store.ts';
import type { OpenCollection } from './collection.ts';
import { isDuplicate, type DatabaseLabel, storeError } from './errors.ts';
import type { StoreOperation, OperationRunner } from './operation.ts';
import { int64, type ReservationRow } from './rows.ts';

/** How long a repeat is known as one, in milliseconds: 24 hours. */
const RESERVATION_MS = 86_400_000;

/**
 * How old the count of a caller's reservations may be, in milliseconds: in between a process adds its own, so with n
 * processes a caller may get that much more than the limit as they write in this time. To count costs 50 ms at the limit.
 */
const RECOUNT_MS = 60_000;

/** The same for a caller who is at the limit. */
const RECOUNT_AT_LIMIT_MS = 1_000;

/** What is known of a caller's reservations that have not expired. */
interface ReservationCount {
  count: number;
  countedAt: number;
  /** The count under way, shared by all creates of the caller. */
  counting: Promise<void> | undefined;
}

/**
 * Idempotency keys, each with the id of the one record that may be created under it. First the reservation is written,
 * then the record under its id: a call that finds a reservation without a record completes the same write, and the
 * uniqueness of `_id` lets one of any number of calls do so. The record carries the digest of its reservation, so that it
 * is known when it was changed, or deleted, since.
 */
export function openReservations(
  rows: Collection<ReservationRow>,
  label: DatabaseLabel,
  operations: OperationRunner,
  maxReservations = MAX_RESERVATIONS,
) {
  const counts = new Map<string, ReservationCount>();

  /** What this process adds meanwhile stays added, so it may count twice until the next count. */
  async function countReservations(
    caller: string,
    callerCount: ReservationCount,
    now: number,
  ): Promise<void> {
    const before = callerCount.count;
    // An operation of its own: the client of the create that starts it may go away, and others wait for it too.
    const counted = await operations.runInternal((operation) =>
      rows.countDocuments(unexpiredFilter(operation, caller, now), {
        ...operation.commandOptions,
        limit: maxReservations,
      }),
    );
    callerCount.count += counted - before;
    callerCount.countedAt = now;
  }

  /** @throws {StoreError} `too-many-reservations`, but for a repeat under a key that is known */
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

  /** @returns whether the reservation is this call's; `false` where there is one under the key already */
  async function insert(operation: StoreOperation, row: ReservationRow): Promise<boolean> {
    try {
      await rows.insertOne({ ...row, _id: operation.trackSend(row._id) }, operation.commandOptions);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Puts a new reservation in the place of one that has expired. The server's own sweep comes once a minute. */
  async function replace(operation: StoreOperation, expired: ReservationRow, row: ReservationRow) {
    const { _id, ...rest } = row;
    // The whole of the expired one is asked for: of several calls that replace it one does.
    const filter = { ...expired, _id: operation.trackSend(_id) };
    const { modifiedCount } = await rows.replaceOne(filter, rest, operation.commandOptions);
    return modifiedCount === 1;
  }

  /** Whose the key is when this resolves: this call's, or that of the reservation which it returns. */
  async function reserve(
    operation: StoreOperation,
    row: ReservationRow,
  ): Promise<ReservationRow | undefined> {
    while (!(await insert(operation, row))) {
      const existing = await rows.findOne({ _id: operation.trackSend(row._id) }, operation.commandOptions);
      if (existing !== null && existing.expiresAt.getTime() > Date.now()) return existing;
      if (existing !== null && (await replace(operation, existing, row))) return undefined;
      // The sweep took it, another call replaced it, or the majority has not confirmed it yet.
      await operation.pause();
    }
    return undefined;
  }

  const expiredError = () =>
    storeError('outcome-unknown', label, 'its reservation expired before the record was written');

  /**
   * Stores a record under the id that is reserved for it, or waits until another call under the same key has.
   * @returns `false` where the id belongs to another record
   * @throws {StoreError} `conflict` where another record has a unique value of this one
   */
  async function insertRecord<Stored extends StoredRecord>(
    operation: StoreOperation,
    records: OpenCollection<Stored>,
    record: Stored,
    reservation: string,
  ): Promise<boolean> {
    for (;;) {
      if (await records.insert(operation, record, reservation)) return true;
      // It is there; a majority has it on disk when a read that asks a majority sees it.
      const row = await records.find(operation, record.id);
      if (row !== null) return records.belongsTo(row, record, reservation);
      await records.checkUnique(operation, record);
      await operation.pause();
    }
  }

  /** Reserves another id. Of several calls that do so at once one does, and the others get the id that it reserved. */
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
      // Its time was up: the key may be another create's by now.
      if (existing?.expiresAt.getTime() !== row.expiresAt.getTime()) throw expiredError();
      if (Number(existing.recordId) !== Number(row.recordId)) return existing;
      // The majority has not confirmed the other call's id yet.
      await operation.pause();
    }
  }

  /**
   * Stores the record of a reservation. Where its id belongs to another record, since the counter was behind the records,
   * the reservation gets a new id first.
   */
  async function complete<Stored extends StoredRecord>(
    operation: StoreOperation,
    records: OpenCollection<Stored>,
    values: NewRecord<Stored>,
    reserved: ReservationRow,
  ): Promise<Stored> {
    for (let row = reserved; ;) {
      // A process that stood still for a day: the key may be another reservation's by now.
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
    // The values of a repeat are those of the first call.
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
      // What the schema rejects reserves nothing.
      buildRecord(definition, Number(row.recordId), values);
      const existing = await reserve(operation, row);
      // From here on other calls may store it, whatever becomes of this one.
      operation.writeOutcome = 'unknown';
      if (existing !== undefined) {
        if (existing.fingerprint !== row.fingerprint || existing.collection !== row.collection) {
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

/** Finds the reservations of a caller that have not expired. */
const unexpiredFilter = (operation: StoreOperation, caller: string, now: number) => ({
  caller: operation.trackSend(caller),
  expiresAt: { $gt: new Date(now) },
});

/** A caller is the hash of an API key, which is not to be found out from here. */
const callerDigest = ({ caller }: Reservation) => createHash('sha256').update(caller).digest('hex');

/** What a reservation is found by. As in the embedded store, so that one can be copied to the other. */
const reservationDigest = ({ caller, key }: Reservation) =>
  createHash('sha256').update(`${caller}\n${key}`).digest('hex');
