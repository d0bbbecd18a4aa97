import { isDeepStrictEqual } from 'node:util';
import { MongoBulkWriteError } from 'mongodb';
import type { Animal } from '../../schemas.ts';
import {
  fullAfter,
  isSameKey,
  type StoredReservation,
  type StoreTransfer,
  takesPlaceOf,
} from '../transfer.ts';
import { checkedAnimal } from './animals.ts';
import { greatestId } from './counter.ts';
import { storeError } from './errors.ts';
import type { MongodbStoreOptions } from './options.ts';
import { openKeys } from './keys.ts';
import { type Collections, openDatabase } from './open.ts';
import type { Operation } from './operation.ts';
import { decodeAnimal, encodeAnimal, int64, type ReservationRow } from './rows.ts';

/** A batch is larger than what a client waits for. */
const BATCH_TIMEOUT_MS = 60_000;

/**
 * Opens a database for a copy, when it can be reached. An operation is a batch here: its bound is 60 s if none is given.
 * @throws {StoreError}
 */
export async function openMongodbTransfer(options: MongodbStoreOptions): Promise<StoreTransfer> {
  const operationTimeoutMs = options.operationTimeoutMs ?? BATCH_TIMEOUT_MS;
  const { place, operations, prepared, close } = openDatabase(
    { ...options, operationTimeoutMs },
    (collections) => collections,
  );

  const run = <T>(work: (collections: Collections, operation: Operation) => Promise<T>): Promise<T> =>
    operations.run(async (operation) => work(await prepared(), operation));

  await run(async () => {}).catch(async (error: unknown) => {
    await close();
    throw error;
  });

  return {
    isEmpty: () =>
      run(async ({ animals, keys, counters }, { call }) => {
        const found = [animals.findOne({}, call), keys.findOne({}, call), counters.findOne({}, call)];
        return (await Promise.all(found)).every((row) => row === null);
      }),

    countAnimals: () => run(({ animals }, { call }) => animals.countDocuments({}, call)),

    animals: (after, limit, maxBytes) =>
      run(async ({ animals }, { call }) => {
        const rows = animals.find(
          { _id: { $gt: int64(after) } },
          // The server ends a batch before it is larger than a document may be: 16 MB.
          { ...call, sort: { _id: 1 }, limit, batchSize: limit },
        );
        const page: Animal[] = [];
        const isLast = fullAfter(maxBytes);
        for await (const row of rows) {
          const animal = checkedAnimal(row, place);
          page.push(animal);
          if (isLast(animal)) break;
        }
        return page;
      }),

    putAnimals: (some) =>
      run(async ({ animals }, { call }) => {
        try {
          await animals.insertMany(some.map(encodeAnimal), { ...call, ordered: false });
        } catch (error) {
          if (!(error instanceof MongoBulkWriteError) || error.code !== 11000) throw error;
          // Some were there already, by a copy that was interrupted.
          const ids = some.map(({ id }) => int64(id));
          const found = await animals.find({ _id: { $in: ids } }, call).toArray();
          const stored = new Map(found.map((row) => [row._id, decodeAnimal(row)]));
          const other = some.find((animal) => !isDeepStrictEqual(stored.get(animal.id), animal));
          if (other !== undefined) throw storeError('conflict', place, `another animal ${other.id}`);
        }
      }),

    keys: () => run(({ keys }, operation) => openKeys(keys, place).list(operation)),

    putKeys: (records) =>
      run(async ({ keys }, operation) => {
        const rows = openKeys(keys, place);
        for (const record of records) {
          const { hash, name, lastUsedAt, revokedAt } = record;
          if (!isSameKey(record, await rows.find(operation, hash))) {
            await rows.add(operation, record);
            continue;
          }
          if (lastUsedAt !== undefined) await rows.touch(operation, hash, lastUsedAt);
          if (revokedAt !== undefined) await rows.revoke(operation, name, revokedAt);
        }
      }),

    reservations: (after, limit) =>
      run(async ({ animals, reservations }, { call }) => {
        const good: ReservationRow[] = [];
        for (let last = after; ;) {
          const page = await reservations
            .find(
              { _id: { $gt: last }, expiresAt: { $gt: new Date() } },
              { ...call, sort: { _id: 1 }, limit: limit - good.length },
            )
            .toArray();
          const ids = page.map(({ animalId }) => animalId);
          const found = await animals
            .find({ _id: { $in: ids } }, { ...call, projection: { _id: 1 } })
            .toArray();
          // A create that failed halfway leaves a reservation without an animal: elsewhere a repeat starts anew.
          const stored = new Set(found.map(({ _id }) => _id));
          good.push(...page.filter(({ animalId }) => stored.has(animalId)));
          const end = page.at(-1);
          if (end === undefined || good.length === limit) break;
          last = end._id;
        }
        return good.map(decodeReservation);
      }),

    putReservations: (some) =>
      run(async ({ reservations }, { call }) => {
        const there = await reservations
          .find({ _id: { $in: some.map(({ digest }) => digest) } }, call)
          .toArray();
        const stored = new Map(there.map((row) => [row._id, decodeReservation(row)]));
        const now = Date.now();
        const missing = some.filter((each) => takesPlaceOf(stored.get(each.digest), each, now));
        const writes = missing.map(({ digest, fingerprint, animalId, expiresAt }) => ({
          replaceOne: {
            filter: { _id: digest },
            replacement: { fingerprint, animalId: int64(animalId), expiresAt: new Date(expiresAt) },
            upsert: true,
          },
        }));
        if (writes.length > 0) await reservations.bulkWrite(writes, { ...call, ordered: false });
      }),

    lastAnimalId: () =>
      run(async ({ animals, counters }, { call }) => {
        const counter = await counters.findOne({ _id: 'lastAnimalId' }, call);
        return Math.max(Number(counter?.last ?? 0), await greatestId(call, animals));
      }),

    raiseLastAnimalId: (id) =>
      run(async ({ counters }, { call }) => {
        await counters.updateOne(
          { _id: 'lastAnimalId' },
          { $max: { last: int64(id) } },
          { ...call, upsert: true },
        );
      }),

    close,
  };
}

const decodeReservation = ({
  _id: digest,
  fingerprint,
  animalId,
  expiresAt,
}: ReservationRow): StoredReservation => ({
  digest,
  fingerprint,
  animalId: Number(animalId),
  expiresAt: expiresAt.getTime(),
});
