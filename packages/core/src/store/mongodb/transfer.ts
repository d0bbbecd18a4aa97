import { isDeepStrictEqual } from 'node:util';
import { MongoBulkWriteError } from 'mongodb';
import type { CollectionDefinition, StoredRecord } from '../collection.ts';
import {
  type CollectionTransfer,
  batchLimit,
  recordConflict,
  type StoredReservation,
  type StoreTransfer,
  shouldPutReservation,
} from '../transfer.ts';
import { checkedRecord } from './collection.ts';
import type { DatabaseLabel } from './errors.ts';
import type { CommandOptions, StoreOperation } from './operation.ts';
import { type Collections, decodeRecord, encodeRecord, int64, type ReservationRow } from './rows.ts';

/** Runs a batch within the store's timeout. */
type Run = <T>(work: (collections: Collections, operation: StoreOperation) => Promise<T>) => Promise<T>;

export const createTransfer = (
  run: Run,
  definitions: readonly CollectionDefinition[],
  label: DatabaseLabel,
): StoreTransfer => ({
  collections: definitions.map((definition) => createCollectionTransfer(run, definition, label)),
  reservations: (after, limit) =>
    run(async (collections, { commandOptions }) => {
      const complete: ReservationRow[] = [];
      for (let last = after; ;) {
        const page = await collections.reservations
          .find(
            { _id: { $gt: last }, expiresAt: { $gt: new Date() } },
            { ...commandOptions, sort: { _id: 1 }, limit: limit - complete.length },
          )
          .toArray();
        // A failed create may leave a reservation without a record. It is not copied: a retry starts again in the target.
        const stored = await storedRecords(collections, page, commandOptions);
        complete.push(...page.filter((row) => row.isComplete === true || stored.has(recordOf(row))));
        const end = page.at(-1);
        if (end === undefined || complete.length === limit) break;
        last = end._id;
      }
      return complete.map(decodeReservation);
    }),
  putReservations: (incoming) =>
    run(async ({ reservations }, { commandOptions }) => {
      const existing = await reservations
        .find({ _id: { $in: incoming.map(({ digest }) => digest) } }, commandOptions)
        .toArray();
      const stored = new Map(existing.map((row) => [row._id, decodeReservation(row)]));
      const now = Date.now();
      const missing = incoming.filter((each) => shouldPutReservation(stored.get(each.digest), each, now));
      const writes = missing.map(({ digest, fingerprint, collection, recordId, expiresAt }) => ({
        replaceOne: {
          filter: { _id: digest },
          replacement: {
            fingerprint,
            collection,
            recordId: int64(recordId),
            expiresAt: new Date(expiresAt),
            isComplete: true,
          },
          upsert: true,
        },
      }));
      if (writes.length > 0) await reservations.bulkWrite(writes, { ...commandOptions, ordered: false });
    }),
});

function createCollectionTransfer(
  run: Run,
  definition: CollectionDefinition,
  label: DatabaseLabel,
): CollectionTransfer {
  const { name } = definition;
  return {
    definition,
    count: () =>
      run(({ records }, { commandOptions }) =>
        records(name).countDocuments({ _deletedAt: { $exists: false } }, commandOptions),
      ),

    records: (after, limit, maxBytes) =>
      run(async ({ records }, { commandOptions }) => {
        const rows = records(name).find(
          { _id: { $gt: int64(after) }, _deletedAt: { $exists: false } },
          // The server limits a batch to 16 MB, the maximum size of a document.
          { ...commandOptions, sort: { _id: 1 }, limit, batchSize: limit },
        );
        const page: StoredRecord[] = [];
        const isLast = batchLimit(maxBytes);
        for await (const row of rows) {
          const record = checkedRecord(row, definition, label);
          page.push(record);
          if (isLast(record)) break;
        }
        return page;
      }),

    put: (incoming) =>
      run(async ({ records }, { commandOptions }) => {
        try {
          const rows = incoming.map(encodeRecord);
          await records(name).insertMany(rows, { ...commandOptions, ordered: false });
          return incoming.length;
        } catch (error) {
          if (!(error instanceof MongoBulkWriteError) || error.code !== 11000) throw error;
          // An interrupted copy stored some of them.
          const ids = incoming.map(({ id }) => int64(id));
          const existing = await records(name)
            .find({ _id: { $in: ids } }, commandOptions)
            .toArray();
          const stored = new Map(existing.map((row) => [row._id, decodeRecord(row, definition)]));
          const conflicting = incoming.find((record) => !isDeepStrictEqual(stored.get(record.id), record));
          if (conflicting !== undefined) throw recordConflict(definition, conflicting.id);
          return error.insertedCount;
        }
      }),

    lastId: () =>
      run(async ({ counters }, { commandOptions }) => {
        // Not less than the ids of stored records: opening the database raises it.
        const counter = await counters.findOne({ _id: name }, commandOptions);
        return Number(counter?.last ?? 0);
      }),

    raiseLastId: (id) =>
      run(async ({ counters }, { commandOptions }) => {
        await counters.updateOne(
          { _id: name },
          { $max: { last: int64(id) } },
          { ...commandOptions, upsert: true },
        );
      }),
  };
}

const recordOf = ({ collection, recordId }: ReservationRow) => `${collection} ${String(recordId)}`;

/** Returns which records of reservations exist, as `recordOf` names them. */
async function storedRecords(
  { records }: Collections,
  reservations: readonly ReservationRow[],
  commandOptions: CommandOptions,
): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  for (const name of new Set(reservations.map(({ collection }) => collection))) {
    const ids = reservations.flatMap(({ collection, recordId }) => (collection === name ? [recordId] : []));
    const rows = records(name).find({ _id: { $in: ids } }, { ...commandOptions, projection: { _id: 1 } });
    for await (const { _id } of rows) stored.add(`${name} ${String(_id)}`);
  }
  return stored;
}

const decodeReservation = ({
  _id: digest,
  fingerprint,
  collection,
  recordId,
  expiresAt,
}: ReservationRow): StoredReservation => ({
  digest,
  fingerprint,
  collection,
  recordId: Number(recordId),
  expiresAt: expiresAt.getTime(),
});
