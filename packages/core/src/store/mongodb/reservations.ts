import { createHash } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { Animal, NewPet } from '../../schemas.ts';
import type { Awaitable, Created, Reservation } from '../store.ts';
import { animalOf, type Animals } from './animals.ts';
import { isDuplicate, type Place, storeError } from './errors.ts';
import type { Operation } from './operation.ts';
import { int64, type ReservationRow } from './rows.ts';

/** How long a repeat is known as one, in milliseconds: 24 hours. */
const RESERVATION_MS = 86_400_000;

/**
 * Idempotency keys, each with the id of the one animal that may be created under it. First the reservation is written,
 * then the animal under its id: whoever finds a reservation without an animal completes the same write, and the
 * uniqueness of `_id` lets one of any number of them do so.
 */
export function openReservations(rows: Collection<ReservationRow>, animals: Animals, place: Place) {
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
    const { modifiedCount } = await rows.updateOne(filter, { $set: rest }, operation.call);
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

  /** Stores an animal under the id that is reserved for it, or waits until whoever does so too has. */
  async function complete(operation: Operation, animal: Animal, { expiresAt }: ReservationRow) {
    // A process that stood still for a day: the key may be another reservation's by now.
    if (expiresAt.getTime() <= Date.now()) {
      throw storeError('outcome-unknown', place, 'its reservation expired before the animal was written');
    }
    if (await animals.insert(operation, animal)) return;
    // It is there; a majority has it on disk when a read that asks a majority sees it.
    while ((await animals.get(operation, animal.id)) === undefined) await operation.pause();
  }

  async function repeat(
    operation: Operation,
    pet: NewPet,
    { fingerprint }: Reservation,
    found: ReservationRow,
  ): Promise<Created> {
    if (found.fingerprint !== fingerprint) throw storeError('key-reused', place);
    const animal = animalOf(Number(found.animalId), pet);
    const stored = await animals.get(operation, animal.id);
    if (stored === undefined) await complete(operation, animal, found);
    return { animal: stored ?? animal, isReplay: true };
  }

  return {
    async createOnce(
      operation: Operation,
      pet: NewPet,
      reservation: Reservation,
      takeId: () => Awaitable<number>,
      afterReservation?: (reservation: Reservation) => Promise<void>,
    ): Promise<Created> {
      const animal = animalOf(await takeId(), pet);
      const row: ReservationRow = {
        _id: digest(reservation),
        fingerprint: reservation.fingerprint,
        animalId: int64(animal.id),
        expiresAt: new Date(Date.now() + RESERVATION_MS),
      };
      const found = await reserve(operation, row);
      // From here on other calls may store it, whatever becomes of this one.
      operation.doubt = 'standing';
      if (found !== undefined) return repeat(operation, pet, reservation, found);
      await afterReservation?.(reservation);
      await complete(operation, animal, row);
      return { animal, isReplay: false };
    },
  };
}

/** What a reservation is found by. As in the embedded store, so that one can be copied to the other. */
const digest = ({ caller, key }: Reservation) =>
  createHash('sha256').update(`${caller}\n${key}`).digest('hex');
