import { createHash } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { NewRecord, StoredRecord } from '../collection.ts';
import { fingerprint, recordOf } from '../record.ts';
import { MAX_RESERVATIONS, tooManyReservations } from '../reservationLimit.ts';
import type { Created, Reservation } from '../store.ts';
import type { OpenCollection } from './collection.ts';
import { isDuplicate, type Place, storeError } from './errors.ts';
import type { Operation, Operations } from './operation.ts';
import { int64, type ReservationRow } from './rows.ts';

/** How long a repeat is known as one, in milliseconds: 24 hours. */
const RESERVATION_MS = 86_400_000;

/**
 * How old the count of a caller's reservations may be, in milliseconds: in between a process adds its own, so with n
 * processes a caller may get that much more than the limit as they write in this time. To count costs 50 ms at the limit.
 */
const COUNT_MS = 60_000;

/** The same for a caller who is at the limit. */
const FULL_MS = 1_000;

/** What is known of a caller's reservations that have not expired. */
interface Made {
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
  place: Place,
  operations: Operations,
  maxReservations = MAX_RESERVATIONS,
) {
  const made = new Map<string, Made>();

  /** What this process adds meanwhile stays added, so it may count twice until the next count. */
  async function countMade(caller: string, known: Made, now: number): Promise<void> {
    const before = known.count;
    // An operation of its own: the client of the create that starts it may go away, and others wait for it too.
    const counted = await operations.runOwn((operation) =>
      rows.countDocuments(live(operation, caller, now), { ...operation.call, limit: maxReservations }),
    );
    known.count += counted - before;
    known.countedAt = now;
  }

  /** @throws {StoreError} `too-many-reservations`, but for a repeat under a key that is known */
  async function checkRoom(operation: Operation, _id: string, caller: string): Promise<void> {
    const now = Date.now();
    const known = made.get(caller) ?? { count: 0, countedAt: -Infinity, counting: undefined };
    made.set(caller, known);
    const isFull = known.count >= maxReservations;
    if (Math.abs(now - known.countedAt) >= (isFull ? FULL_MS : COUNT_MS)) {
      known.counting ??= countMade(caller, known, now).finally(() => {
        known.counting = undefined;
      });
      await known.counting;
    }
    if (known.count < maxReservations) return;
    const found = await rows.findOne({ _id: operation.sends(_id) }, operation.call);
    if (found !== null && found.expiresAt.getTime() > now) return;
    const oldest = await rows.findOne(live(operation, caller, now), {
      ...operation.call,
      sort: { expiresAt: 1 },
    });
    throw tooManyReservations(maxReservations, (oldest?.expiresAt.getTime() ?? now) - now);
  }

  /** @returns whether the reservation is this call's; `false` where there is one under the key already */
  async function insert(operation: Operation, row: ReservationRow): Promise<boolean> {
    try {
      await rows.insertOne({ ...row, _id: operation.sends(row._id) }, operation.call);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Puts a new reservation in the place of one that has expired. The server's own sweep comes once a minute. */
  async function replace(operation: Operation, expired: ReservationRow, row: ReservationRow) {
    const { _id, ...rest } = row;
    // The whole of the expired one is asked for: of several calls that replace it one does.
    const filter = { ...expired, _id: operation.sends(_id) };
    const { modifiedCount } = await rows.replaceOne(filter, rest, operation.call);
    return modifiedCount === 1;
  }

  /** Whose the key is when this resolves: this call's, or that of the reservation which it returns. */
  async function reserve(operation: Operation, row: ReservationRow): Promise<ReservationRow | undefined> {
    while (!(await insert(operation, row))) {
      const found = await rows.findOne({ _id: operation.sends(row._id) }, operation.call);
      if (found !== null && found.expiresAt.getTime() > Date.now()) return found;
      if (found !== null && (await replace(operation, found, row))) return undefined;
      // The sweep took it, another call replaced it, or the majority has not confirmed it yet.
      await operation.pause();
    }
    return undefined;
  }

  const expired = () =>
    storeError('outcome-unknown', place, 'its reservation expired before the record was written');

  /**
   * Stores a record under the id that is reserved for it, or waits until another call under the same key has.
   * @returns `false` where the id belongs to another record
   * @throws {StoreError} `conflict` where another record has a unique value of this one
   */
  async function insertRecord<Stored extends StoredRecord>(
    operation: Operation,
    records: OpenCollection<Stored>,
    record: Stored,
    reservation: string,
  ): Promise<boolean> {
    for (;;) {
      if (await records.insert(operation, record, reservation)) return true;
      // It is there; a majority has it on disk when a read that asks a majority sees it.
      const row = await records.find(operation, record.id);
      if (row !== null) return records.isOf(row, record, reservation);
      await records.checkUnique(operation, record);
      await operation.pause();
    }
  }

  /** Reserves another id. Of several calls that do so at once one does, and the others get the id that it reserved. */
  async function moveTo(operation: Operation, id: number, row: ReservationRow): Promise<ReservationRow> {
    const { _id, ...rest } = row;
    const recordId = int64(id);
    for (;;) {
      const filter = { ...rest, _id: operation.sends(_id) };
      const { modifiedCount } = await rows.updateOne(filter, { $set: { recordId } }, operation.call);
      if (modifiedCount === 1) return { ...row, recordId };
      const found = await rows.findOne({ _id: operation.sends(_id) }, operation.call);
      // Its time was up: the key may be another create's by now.
      if (found?.expiresAt.getTime() !== row.expiresAt.getTime()) throw expired();
      if (Number(found.recordId) !== Number(row.recordId)) return found;
      // The majority has not confirmed the other call's id yet.
      await operation.pause();
    }
  }

  /**
   * Stores the record of a reservation. Where its id belongs to another record, since the counter was behind the records,
   * the reservation gets a new id first.
   */
  async function complete<Stored extends StoredRecord>(
    operation: Operation,
    records: OpenCollection<Stored>,
    values: NewRecord<Stored>,
    reserved: ReservationRow,
  ): Promise<Stored> {
    for (let row = reserved; ;) {
      // A process that stood still for a day: the key may be another reservation's by now.
      if (row.expiresAt.getTime() <= Date.now()) throw expired();
      const record = recordOf(records.definition, Number(row.recordId), values);
      if (await insertRecord(operation, records, record, row._id)) return record;
      await records.ids.pass(operation, record.id);
      row = await moveTo(operation, await records.ids.take(), row);
    }
  }

  async function repeat<Stored extends StoredRecord>(
    operation: Operation,
    records: OpenCollection<Stored>,
    values: NewRecord<Stored>,
    found: ReservationRow,
  ): Promise<Created<Stored>> {
    // The values of a repeat are those of the first call.
    const record = recordOf(records.definition, Number(found.recordId), values);
    if (found.isComplete === true) return { record, isReplay: true };
    const row = await records.find(operation, record.id);
    if (row !== null && records.isOf(row, record, found._id)) return { record, isReplay: true };
    return { record: await complete(operation, records, values, found), isReplay: true };
  }

  return {
    async createOnce<Stored extends StoredRecord>(
      operation: Operation,
      records: OpenCollection<Stored>,
      values: NewRecord<Stored>,
      reservation: Reservation,
      afterReservation?: (reservation: Reservation) => Promise<void>,
    ): Promise<Created<Stored>> {
      const { definition, ids } = records;
      const caller = callerDigest(reservation);
      const _id = digest(reservation);
      await checkRoom(operation, _id, caller);
      const row: ReservationRow = {
        _id,
        fingerprint: fingerprint(definition, values),
        collection: definition.name,
        recordId: int64(await ids.take()),
        expiresAt: new Date(Date.now() + RESERVATION_MS),
        caller,
      };
      // What the schema rejects reserves nothing.
      recordOf(definition, Number(row.recordId), values);
      const found = await reserve(operation, row);
      // From here on other calls may store it, whatever becomes of this one.
      operation.doubt = 'standing';
      if (found !== undefined) {
        if (found.fingerprint !== row.fingerprint || found.collection !== row.collection) {
          throw storeError('key-reused', place);
        }
        return repeat(operation, records, values, found);
      }
      const known = made.get(caller);
      if (known !== undefined) known.count += 1;
      await afterReservation?.(reservation);
      return { record: await complete(operation, records, values, row), isReplay: false };
    },
  };
}

/** Finds the reservations of a caller that have not expired. */
const live = (operation: Operation, caller: string, now: number) => ({
  caller: operation.sends(caller),
  expiresAt: { $gt: new Date(now) },
});

/** A caller is the hash of an API key, which is not to be found out from here. */
const callerDigest = ({ caller }: Reservation) => createHash('sha256').update(caller).digest('hex');

/** What a reservation is found by. As in the embedded store, so that one can be copied to the other. */
const digest = ({ caller, key }: Reservation) =>
  createHash('sha256').update(`${caller}\n${key}`).digest('hex');
