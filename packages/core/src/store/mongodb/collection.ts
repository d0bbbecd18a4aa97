import type { Collection, Filter } from 'mongodb';
import type {
  CollectionDefinition,
  IndexedCondition,
  NewRecord,
  RecordChange,
  StoredRecord,
} from '../collection.ts';
import { applyChange, buildRecord, checkVersion, throwIncompatible } from '../record.ts';
import type { ListQuery, Page } from '../store.ts';
import { StoreError } from '../storeError.ts';
import type { Counter } from './counter.ts';
import { isDuplicate, type DatabaseLabel, storeError } from './errors.ts';
import type { StoreOperation, OperationRunner } from './operation.ts';
import {
  decodeRecord,
  decodeRow,
  encodeRecord,
  type Int64,
  int64,
  isSameRecord,
  type RecordRow,
} from './rows.ts';

/** How long the tombstone of an idempotently created record keeps its id, in seconds. Longer than a reservation is valid. */
const TOMBSTONE_SECONDS = 90_000;

/** Opens the records of a collection. `{field, _id}` is an index, so the cost of a page does not depend on where it starts. */
export function openCollection<Stored extends StoredRecord, Indexed extends string>(
  rows: Collection<RecordRow>,
  definition: CollectionDefinition<Stored, Indexed>,
  ids: Counter,
  operations: OperationRunner,
  label: DatabaseLabel,
) {
  const { recordName } = definition;
  const uniques = Object.entries(definition.indexes).flatMap(([field, kind]) =>
    kind === 'unique' ? [field] : [],
  );
  let tombstoneIndex: Promise<unknown> | undefined;

  const checked = (row: RecordRow) => checkedRecord<Stored>(row, definition, label);

  async function find(operation: StoreOperation, id: number): Promise<RecordRow | null> {
    return rows.findOne({ _id: operation.trackSend(int64(id)) }, operation.commandOptions);
  }

  async function get(operation: StoreOperation, id: number): Promise<Stored | undefined> {
    const row = await find(operation, id);
    return row === null || row._deletedAt !== undefined ? undefined : checked(row);
  }

  /**
   * Inserts a record.
   * @param reservation digest of its idempotency key, if it has one
   * @returns `false` if its id or a unique value is taken
   */
  async function insert(operation: StoreOperation, record: Stored, reservation?: string): Promise<boolean> {
    const row = encodeRecord(record);
    const withReservation = reservation === undefined ? row : { ...row, _reservation: reservation };
    try {
      await rows.insertOne(
        { ...withReservation, _id: operation.trackWrite(row._id) },
        operation.commandOptions,
      );
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** @throws {StoreError} `conflict` if another record has one of its unique values */
  async function checkUnique(operation: StoreOperation, record: StoredRecord): Promise<void> {
    // A query per field, because the errors of some servers do not name the field.
    for (const field of uniques) {
      const value: unknown = Reflect.get(record, field);
      if (value === undefined) continue;
      const other = await rows.findOne({ [field]: operation.trackSend(value) }, operation.commandOptions);
      if (other !== null && Number(other._id) !== record.id) throw uniqueConflict(field, other._id);
    }
  }

  const uniqueConflict = (field: string, id: Int64) =>
    new StoreError('conflict', `The ${recordName} ${String(id)} already has the same ${field}.`);

  /** Waits before the next attempt if a value may be taken by a record that the majority has not confirmed yet. */
  const pauseIfUnique = async (operation: StoreOperation) => {
    if (uniques.length > 0) await operation.pause();
  };

  /**
   * Waits before the next attempt at a write that did not match, because the record was changed concurrently.
   * @throws {StoreError} `outcome-unknown` if the driver retried the write: its first attempt may have changed the record
   */
  async function pauseAfterConflict(operation: StoreOperation, id: number): Promise<void> {
    if (operation.writeOutcome === 'unknown') {
      throw storeError(
        'outcome-unknown',
        label,
        `${recordName} ${id} had already changed when the write was retried`,
      );
    }
    operation.writeOutcome = 'not-stored';
    await operation.pause();
  }

  /** Matches a record only if it is unchanged since it was read, so that one of several concurrent changes succeeds. */
  function unchangedFilter(row: RecordRow, _id: Int64): Filter<RecordRow> {
    const filter: Record<string, unknown> = { _id };
    if (definition.isVersioned) return { ...filter, version: row['version'], _deletedAt: { $exists: false } };
    for (const field of [...definition.fields, '_deletedAt']) {
      const value = row[field];
      if (value === undefined && field !== 'id') filter[field] = { $exists: false };
      else if (field !== 'id') filter[field] = value === null ? { $type: 'null' } : value;
    }
    return filter;
  }

  /** Creates the TTL index that removes tombstones, with the first tombstone of this process. */
  function ensureTombstoneIndex(): Promise<unknown> {
    tombstoneIndex ??= operations
      .runInternal(({ commandOptions }) =>
        rows.createIndex(
          { _deletedAt: 1 },
          { ...commandOptions, sparse: true, expireAfterSeconds: TOMBSTONE_SECONDS },
        ),
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

    async create(operation: StoreOperation, values: NewRecord<Stored>): Promise<Stored> {
      for (;;) {
        const record = buildRecord<Stored>(definition, await ids.take(), values);
        if (await insert(operation, record)) return record;
        // The driver retried the insert, so the existing record may be this one.
        if (operation.writeOutcome === 'unknown') {
          throw storeError(
            'outcome-unknown',
            label,
            `${recordName} ${record.id} already existed when the write was retried`,
          );
        }
        // Nothing was stored.
        operation.writeOutcome = 'not-stored';
        await checkUnique(operation, record);
        // The counter is less than the ids of stored records.
        if ((await find(operation, record.id)) !== null || uniques.length === 0) {
          await ids.skipPast(operation, record.id);
        }
        await pauseIfUnique(operation);
      }
    },

    async update(
      operation: StoreOperation,
      id: number,
      change: RecordChange<Stored>,
      ifVersion?: number,
    ): Promise<Stored | undefined> {
      for (;;) {
        const row = await find(operation, id);
        if (row === null || row._deletedAt !== undefined) return undefined;
        const before = checked(row);
        checkVersion(definition, before, ifVersion);
        const after = applyChange<Stored>(definition, before, change);
        const marks = row._reservation === undefined ? {} : { _reservation: row._reservation };
        try {
          const { matchedCount } = await rows.replaceOne(
            unchangedFilter(row, operation.trackWrite(int64(id))),
            { ...encodeRecord(after), ...marks },
            operation.commandOptions,
          );
          if (matchedCount === 1) return after;
        } catch (error) {
          if (!isDuplicate(error)) throw error;
          await checkUnique(operation, after);
        }
        await pauseAfterConflict(operation, id);
      }
    },

    async remove(operation: StoreOperation, id: number, ifVersion?: number): Promise<boolean> {
      for (;;) {
        const row = await find(operation, id);
        if (row === null || row._deletedAt !== undefined) return false;
        checkVersion(definition, checked(row), ifVersion);
        const filter = unchangedFilter(row, operation.trackWrite(int64(id)));
        if (row._reservation === undefined) {
          if ((await rows.deleteOne(filter, operation.commandOptions)).deletedCount === 1) return true;
        } else {
          // A tombstone keeps the id: otherwise a delayed call with the same idempotency key would create the record again.
          const tombstone = { _reservation: row._reservation, _deletedAt: new Date() };
          if ((await rows.replaceOne(filter, tombstone, operation.commandOptions)).matchedCount === 1) {
            void ensureTombstoneIndex();
            return true;
          }
        }
        await pauseAfterConflict(operation, id);
      }
    },

    async list(
      operation: StoreOperation,
      { limit, cursor = 0 }: ListQuery<Stored, Indexed>,
      condition: IndexedCondition<Indexed> | undefined,
    ): Promise<Page<Stored>> {
      const records: Stored[] = [];
      for (let last = Math.max(cursor, 0); ;) {
        // Reads one more record than requested to find out whether there is a next page.
        const missing = limit + 1 - records.length;
        const after = { $gt: operation.trackSend(int64(last)) };
        const filter: Filter<RecordRow> =
          condition === undefined ? { _id: after } : { [condition.field]: condition.value, _id: after };
        const options = { ...operation.commandOptions, sort: { _id: 1 }, limit: missing } as const;
        const page: RecordRow[] = await rows.find(filter, options).toArray();
        for (const row of page) if (row._deletedAt === undefined) records.push(checked(row));
        // Tombstones may have left fewer records than requested: read on.
        if (page.length < missing || records.length > limit) break;
        last = Number(page.at(-1)?._id);
      }
      return { records: records.slice(0, limit), hasNext: records.length > limit };
    },

    /** Whether a row was created under a reservation, even if it was changed or deleted since. */
    belongsTo(row: RecordRow, record: Stored, reservation: string): boolean {
      if (row._reservation !== undefined) return row._reservation === reservation;
      // Rows of an earlier version or of a copy have no `_reservation`, but they were never changed.
      return isSameRecord(definition, record, decodeRecord(row, definition));
    },
  };
}

/** Decodes a row. @throws {StoreError} `incompatible` if the schema rejects it */
export function checkedRecord<Stored extends StoredRecord>(
  row: RecordRow,
  definition: CollectionDefinition<Stored>,
  label: DatabaseLabel,
): Stored {
  const record = decodeRow(row);
  return definition.check(record) ?? throwIncompatible(definition, record, `the database ${label.name}`);
}

export type OpenCollection<Stored extends StoredRecord> = ReturnType<typeof openCollection<Stored, string>>;
