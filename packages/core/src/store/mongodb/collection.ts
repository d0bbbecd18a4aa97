import type { Collection, Filter } from 'mongodb';
import {
  type CollectionDefinition,
  type IndexedCondition,
  type NewRecord,
  type RecordChange,
  type StoredRecord,
  uniqueFields,
} from '../collection.ts';
import { applyChange, buildRecord, checkVersion, throwIncompatible } from '../record.ts';
import type { ListQuery, Page } from '../store.ts';
import { StoreError } from '../storeError.ts';
import type { Counter } from './counter.ts';
import { isDuplicate, isInserted, type DatabaseLabel, storeError } from './errors.ts';
import type { StoreOperation } from './operation.ts';
import {
  decodeRecord,
  decodeRow,
  encodeRecord,
  type Int64,
  int64,
  isSameRecord,
  type RecordRow,
} from './rows.ts';

export interface RecordsOptions<Stored extends StoredRecord, Indexed extends string> {
  readonly rows: Collection<RecordRow>;
  readonly definition: CollectionDefinition<Stored, Indexed>;
  readonly ids: Counter;
  readonly label: DatabaseLabel;
}

/** The records of a collection. `{field, _id}` is an index, so the cost of a page does not depend on where it starts. */
export class Records<Stored extends StoredRecord, Indexed extends string> {
  readonly definition: CollectionDefinition<Stored, Indexed>;
  readonly ids: Counter;
  readonly #rows: Collection<RecordRow>;
  readonly #label: DatabaseLabel;

  constructor({ rows, definition, ids, label }: RecordsOptions<Stored, Indexed>) {
    this.definition = definition;
    this.ids = ids;
    this.#rows = rows;
    this.#label = label;
  }

  async find(operation: StoreOperation, id: number): Promise<RecordRow | null> {
    return this.#rows.findOne({ _id: operation.trackSend(int64(id)) }, operation.commandOptions);
  }

  async get(operation: StoreOperation, id: number): Promise<Stored | undefined> {
    const row = await this.find(operation, id);
    return row === null || row._deletedAt !== undefined ? undefined : this.#checked(row);
  }

  /** Inserts a record. @param reservation its key's digest @returns `false` if id or unique value is taken */
  insert(operation: StoreOperation, record: Stored, reservation?: string): Promise<boolean> {
    const row = encodeRecord(record);
    const withReservation = reservation === undefined ? row : { ...row, _reservation: reservation };
    const tracked = { ...withReservation, _id: operation.trackWrite(row._id) };
    return isInserted(this.#rows.insertOne(tracked, operation.commandOptions));
  }

  async create(operation: StoreOperation, values: NewRecord<Stored>): Promise<Stored> {
    for (;;) {
      const record = buildRecord<Stored>(this.definition, await this.ids.take(), values);
      if (await this.insert(operation, record)) return record;
      // The driver retried the insert, so the existing record may be this one.
      this.#rejectUnknownOutcome(operation, record.id, 'already existed');
      await this.checkUnique(operation, record);
      const hasUniques = uniqueFields(this.definition).length > 0;
      // The counter is less than the ids of stored records.
      if ((await this.find(operation, record.id)) !== null || !hasUniques) {
        await this.ids.skipPast(operation, record.id);
      }
      // A value may be taken by a record that the majority has not confirmed yet.
      if (hasUniques) await operation.pause();
    }
  }

  async update(
    operation: StoreOperation,
    id: number,
    change: RecordChange<Stored>,
    ifVersion?: number,
  ): Promise<Stored | undefined> {
    for (;;) {
      const row = await this.find(operation, id);
      if (row === null || row._deletedAt !== undefined) return undefined;
      const before = this.#checked(row);
      checkVersion(this.definition, before, ifVersion);
      const after = applyChange<Stored>(this.definition, before, change);
      const marks = row._reservation === undefined ? {} : { _reservation: row._reservation };
      try {
        const { matchedCount } = await this.#rows.replaceOne(
          this.#unchangedFilter(row, operation.trackWrite(int64(id))),
          { ...encodeRecord(after), ...marks },
          operation.commandOptions,
        );
        if (matchedCount === 1) return after;
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        await this.checkUnique(operation, after);
      }
      await this.#pauseAfterConflict(operation, id);
    }
  }

  async remove(operation: StoreOperation, id: number, ifVersion?: number): Promise<boolean> {
    for (;;) {
      const row = await this.find(operation, id);
      if (row === null || row._deletedAt !== undefined) return false;
      checkVersion(this.definition, this.#checked(row), ifVersion);
      const filter = this.#unchangedFilter(row, operation.trackWrite(int64(id)));
      if (row._reservation === undefined) {
        if ((await this.#rows.deleteOne(filter, operation.commandOptions)).deletedCount === 1) return true;
      } else {
        // A tombstone keeps the id: otherwise a delayed call with the same idempotency key would create the record again.
        const tombstone = { _reservation: row._reservation, _deletedAt: new Date() };
        if ((await this.#rows.replaceOne(filter, tombstone, operation.commandOptions)).matchedCount === 1)
          return true;
      }
      await this.#pauseAfterConflict(operation, id);
    }
  }

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
      const page: RecordRow[] = await this.#rows.find(filter, options).toArray();
      for (const row of page) if (row._deletedAt === undefined) records.push(this.#checked(row));
      // Tombstones may have left fewer records than requested: read on.
      if (page.length < missing || records.length > limit) break;
      last = Number(page.at(-1)?._id);
    }
    return { records: records.slice(0, limit), hasNext: records.length > limit };
  }

  /** @throws {StoreError} `conflict` if another record has one of its unique values */
  async checkUnique(operation: StoreOperation, record: StoredRecord): Promise<void> {
    // A query per field, because the errors of some servers do not name the field.
    for (const field of uniqueFields(this.definition)) {
      const value: unknown = Reflect.get(record, field);
      if (value === undefined) continue;
      const other = await this.#rows.findOne(
        { [field]: operation.trackSend(value) },
        operation.commandOptions,
      );
      if (other === null || Number(other._id) === record.id) continue;
      const { recordName } = this.definition;
      throw new StoreError(
        'conflict',
        `The ${recordName} ${String(other._id)} already has the same ${field}.`,
      );
    }
  }

  /** Whether a row was created under a reservation, even if it was changed or deleted since. */
  belongsTo(row: RecordRow, record: Stored, reservation: string): boolean {
    if (row._reservation !== undefined) return row._reservation === reservation;
    // Rows of a copy have no `_reservation`, but they were never changed.
    return isSameRecord(this.definition, record, decodeRecord(row, this.definition));
  }

  #checked(row: RecordRow): Stored {
    return checkedRecord<Stored>(row, this.definition, this.#label);
  }

  /**
   * Waits before the next attempt at a write that did not match, because the record was changed concurrently.
   * @throws {StoreError} `outcome-unknown` if the driver retried the write: its first attempt may have changed the record
   */
  async #pauseAfterConflict(operation: StoreOperation, id: number): Promise<void> {
    this.#rejectUnknownOutcome(operation, id, 'had already changed');
    await operation.pause();
  }

  /** Records that a write stored nothing. @throws {StoreError} `outcome-unknown` if the driver retried it */
  #rejectUnknownOutcome(operation: StoreOperation, id: number, what: string): void {
    if (operation.writeOutcome === 'unknown') {
      const why = `${this.definition.recordName} ${id} ${what} when the write was retried`;
      throw storeError('outcome-unknown', this.#label, why);
    }
    operation.writeOutcome = 'not-stored';
  }

  /** Matches a record only if it is unchanged since it was read, so that one of several concurrent changes succeeds. */
  #unchangedFilter(row: RecordRow, _id: Int64): Filter<RecordRow> {
    const { isVersioned, fields } = this.definition;
    const filter: Record<string, unknown> = { _id };
    if (isVersioned) return { ...filter, version: row['version'], _deletedAt: { $exists: false } };
    for (const field of [...fields, '_deletedAt']) {
      const value = row[field];
      if (value === undefined && field !== 'id') filter[field] = { $exists: false };
      else if (field !== 'id') filter[field] = value === null ? { $type: 'null' } : value;
    }
    return filter;
  }
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
