import type { Collection, Filter } from 'mongodb';
import {
  type CollectionDefinition,
  conditionOf,
  type NewRecord,
  type RecordChange,
  type StoredRecord,
} from '../collection.ts';
import { changed, checkVersion, recordOf } from '../record.ts';
import type { ListQuery, Page } from '../store.ts';
import { StoreError } from '../storeError.ts';
import type { Counter } from './counter.ts';
import { isDuplicate, type Place, storeError } from './errors.ts';
import type { Operation, Operations } from './operation.ts';
import { decodeRecord, encodeRecord, type Int64, int64, isSameRecord, type RecordRow } from './rows.ts';

/** How long a deleted record of an idempotent create leaves its id behind: longer than a repeat is known as one, in seconds. */
const TOMBSTONE_SECONDS = 90_000;

/** The records of a collection by id; `{field, _id}` is an index, so that a page costs the same wherever it starts. */
export function openCollection<Stored extends StoredRecord, Indexed extends string>(
  rows: Collection<RecordRow>,
  definition: CollectionDefinition<Stored, Indexed>,
  ids: Counter,
  operations: Operations,
  place: Place,
) {
  const { recordName } = definition;
  const uniques = Object.entries(definition.indexes).flatMap(([field, kind]) =>
    kind === 'unique' ? [field] : [],
  );
  let tombstoneIndex: Promise<unknown> | undefined;

  const checked = (row: RecordRow) => checkedRecord<Stored>(row, definition, place);

  async function find(operation: Operation, id: number): Promise<RecordRow | null> {
    return rows.findOne({ _id: operation.sends(int64(id)) }, operation.call);
  }

  async function get(operation: Operation, id: number): Promise<Stored | undefined> {
    const row = await find(operation, id);
    return row === null || row._deletedAt !== undefined ? undefined : checked(row);
  }

  /**
   * @param reservation the digest of its idempotency key, where it is created under one
   * @returns whether it was stored; `false` where its id, or a unique value, is taken
   */
  async function insert(operation: Operation, record: Stored, reservation?: string): Promise<boolean> {
    const row = encodeRecord(record);
    const marked = reservation === undefined ? row : { ...row, _reservation: reservation };
    try {
      await rows.insertOne({ ...marked, _id: operation.stores(row._id) }, operation.call);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** @throws {StoreError} `conflict` where another record has a unique value of this one */
  async function checkUnique(operation: Operation, record: StoredRecord): Promise<void> {
    // Which of its values is taken the error of some servers does not say.
    for (const field of uniques) {
      const value: unknown = Reflect.get(record, field);
      if (value === undefined) continue;
      const other = await rows.findOne({ [field]: operation.sends(value) }, operation.call);
      if (other !== null && Number(other._id) !== record.id) throw taken(field, other._id);
    }
  }

  const taken = (field: string, id: Int64) =>
    new StoreError('conflict', `The ${recordName} ${String(id)} has the same ${field} already.`);

  /** Waits before the next look where a value is taken by a record that the majority has not confirmed yet. */
  const pauseIfUnique = async (operation: Operation) => {
    if (uniques.length > 0) await operation.pause();
  };

  /** Finds a record where it is as it was read: of several changes at once one does. */
  function asRead(row: RecordRow, _id: Int64): Filter<RecordRow> {
    const filter: Record<string, unknown> = { _id };
    if (definition.isVersioned) return { ...filter, version: row['version'], _deletedAt: { $exists: false } };
    for (const field of [...definition.fields, '_deletedAt']) {
      const value = row[field];
      if (value === undefined && field !== 'id') filter[field] = { $exists: false };
      else if (field !== 'id') filter[field] = value === null ? { $type: 'null' } : value;
    }
    return filter;
  }

  /** Makes the index that removes tombstones, with the first of this process. */
  function keepTombstonesShort(): Promise<unknown> {
    tombstoneIndex ??= operations
      .runOwn(({ call }) =>
        rows.createIndex({ _deletedAt: 1 }, { ...call, sparse: true, expireAfterSeconds: TOMBSTONE_SECONDS }),
      )
      .catch(() => {
        tombstoneIndex = undefined;
      });
    return tombstoneIndex;
  }

  return {
    definition,
    ids,
    find,
    get,
    insert,
    checkUnique,
    pauseIfUnique,

    async create(operation: Operation, values: NewRecord<Stored>): Promise<Stored> {
      for (;;) {
        const record = recordOf<Stored>(definition, await ids.take(), values);
        if (await insert(operation, record)) return record;
        // The driver repeated the insert: the record that is there may be this one.
        if (operation.doubt === 'standing') {
          throw storeError('outcome-unknown', place, `${recordName} ${record.id} was there at the repeat`);
        }
        // Nothing was stored.
        operation.doubt = 'none';
        await checkUnique(operation, record);
        // The counter is behind the records.
        if ((await find(operation, record.id)) !== null || uniques.length === 0) {
          await ids.pass(operation, record.id);
        }
        await pauseIfUnique(operation);
      }
    },

    async update(
      operation: Operation,
      id: number,
      change: RecordChange<Stored>,
      ifVersion?: number,
    ): Promise<Stored | undefined> {
      for (;;) {
        const row = await find(operation, id);
        if (row === null || row._deletedAt !== undefined) return undefined;
        const before = checked(row);
        checkVersion(definition, before, ifVersion);
        const after = changed<Stored>(definition, before, change);
        const marks = row._reservation === undefined ? {} : { _reservation: row._reservation };
        try {
          const { matchedCount } = await rows.replaceOne(
            asRead(row, operation.stores(int64(id))),
            { ...encodeRecord(after), ...marks },
            operation.call,
          );
          if (matchedCount === 1) return after;
        } catch (error) {
          if (!isDuplicate(error)) throw error;
          await checkUnique(operation, after);
        }
        // The driver repeated the change, and the first attempt may be what changed the record.
        if (operation.doubt === 'standing') {
          throw storeError('outcome-unknown', place, `${recordName} ${id} was changed at the repeat`);
        }
        operation.doubt = 'none';
        await operation.pause();
      }
    },

    async remove(operation: Operation, id: number, ifVersion?: number): Promise<boolean> {
      for (;;) {
        const row = await find(operation, id);
        if (row === null || row._deletedAt !== undefined) return false;
        checkVersion(definition, checked(row), ifVersion);
        const filter = asRead(row, operation.stores(int64(id)));
        if (row._reservation === undefined) {
          if ((await rows.deleteOne(filter, operation.call)).deletedCount === 1) return true;
        } else {
          // Its id stays taken: a call that was held up under the same idempotency key would create it again.
          const tombstone = { _reservation: row._reservation, _deletedAt: new Date() };
          if ((await rows.replaceOne(filter, tombstone, operation.call)).matchedCount === 1) {
            void keepTombstonesShort();
            return true;
          }
        }
        if (operation.doubt === 'standing') {
          throw storeError('outcome-unknown', place, `${recordName} ${id} was changed at the repeat`);
        }
        operation.doubt = 'none';
        await operation.pause();
      }
    },

    async list(
      operation: Operation,
      { limit, where, cursor = 0 }: ListQuery<Stored, Indexed>,
    ): Promise<Page<Stored>> {
      const condition = conditionOf(definition, where);
      const records: Stored[] = [];
      for (let last = Math.max(cursor, 0); ;) {
        // One more than requested tells whether there is a next page.
        const missing = limit + 1 - records.length;
        const after = { $gt: operation.sends(int64(last)) };
        const filter: Filter<RecordRow> =
          condition === undefined ? { _id: after } : { [condition.field]: condition.value, _id: after };
        const options = { ...operation.call, sort: { _id: 1 }, limit: missing } as const;
        const found: RecordRow[] = await rows.find(filter, options).toArray();
        for (const row of found) if (row._deletedAt === undefined) records.push(checked(row));
        // Tombstones of deleted records made it shorter.
        if (found.length < missing || records.length > limit) break;
        last = Number(found.at(-1)?._id);
      }
      return { records: records.slice(0, limit), hasNext: records.length > limit };
    },

    /** Whether a row is the record that was created under a reservation, whatever became of it since. */
    isOf(row: RecordRow, record: Stored, reservation: string): boolean {
      if (row._reservation !== undefined) return row._reservation === reservation;
      // An earlier version, or a copy, made it: those were never changed.
      return isSameRecord(definition, record, decodeRecord(row, definition));
    },
  };
}

/** @throws {StoreError} `damaged` for a document that something else wrote */
export function checkedRecord<Stored extends StoredRecord>(
  row: RecordRow,
  definition: CollectionDefinition<Stored>,
  place: Place,
): Stored {
  const record = decodeRecord(row, definition);
  if (record !== undefined) return record;
  throw storeError('damaged', place, `${definition.recordName} ${String(row._id)} is not what was stored`);
}

export type OpenCollection<Stored extends StoredRecord> = ReturnType<typeof openCollection<Stored, string>>;
