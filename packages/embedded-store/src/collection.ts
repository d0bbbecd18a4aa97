import type { Database } from 'lmdb';
import {
  applyChange,
  buildRecord,
  checkVersion,
  type CollectionDefinition,
  type IndexedCondition,
  type IndexKind,
  type ListQuery,
  type NewRecord,
  type Page,
  type RecordChange,
  type StoredRecord,
  StoreError,
  throwIncompatible,
} from '@petstore/core/store';
import { damaged } from './errors.ts';
import { encodeIndexValue, idKey, indexKey, type IndexKey } from './indexKey.ts';
import type { DataFolder } from './folder.ts';
import { type Decoded, jsonRow } from './rows.ts';
import { collect, EMPTY_VALUE, openCounter, openTable, put, recordCounter, type TableRoot } from './table.ts';

/** Maximum number of cached encoded values per index. Most indexed fields have few distinct values. */
const MAX_CACHED = 1_000;

export interface IndexTable {
  readonly field: string;
  readonly kind: IndexKind;
  readonly ids: Database<Buffer, IndexKey>;
  /** Returns the encoded value of the field; `undefined` if the field is absent, which is not indexed. */
  readonly valueOf: (record: StoredRecord) => Uint8Array | undefined;
  readonly encode: (value: unknown) => Uint8Array;
}

export const indexName = (collection: string, field: string) => `${collection}.${field}`;

function openIndex({ root }: TableRoot, collection: string, field: string, kind: IndexKind): IndexTable {
  const ids: Database<Buffer, IndexKey> = openTable(root, indexName(collection, field), {
    encoding: 'binary',
    keyEncoder: indexKey,
  });
  const cache = new Map<unknown, Uint8Array>();
  function encode(value: unknown): Uint8Array {
    let encoded = cache.get(value);
    if (encoded === undefined) {
      encoded = encodeIndexValue(value);
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(value, encoded);
    }
    return encoded;
  }
  return {
    field,
    kind,
    ids,
    encode,
    valueOf(record) {
      const value: unknown = Reflect.get(record, field);
      return value === undefined ? undefined : encode(value);
    },
  };
}

/** Opens the rows of a collection, by id, and a table for each of its indexes. */
export function openCollectionTables(folder: TableRoot, { name, indexes: kinds }: CollectionDefinition) {
  const rows: Database<Decoded<StoredRecord>, number> = openTable(folder.root, name, {
    encoder: jsonRow<StoredRecord>(),
    keyEncoder: idKey,
  });
  const indexes = Object.entries(kinds).map(([field, kind]) => openIndex(folder, name, field, kind));
  return { rows, indexes };
}

/** Adds a record to an index. Call it inside a write transaction. */
export function addToIndex({ ids, valueOf }: IndexTable, record: StoredRecord): void {
  const value = valueOf(record);
  if (value !== undefined) put(ids, [value, record.id], EMPTY_VALUE);
}

/** Returns the id of another record with the same value in an index, or `undefined`. */
export function findDuplicate({ ids, valueOf }: IndexTable, record: StoredRecord): number | undefined {
  const value = valueOf(record);
  if (value === undefined) return undefined;
  const range = ids.getKeys({ start: [value, 1], end: [value, Number.MAX_SAFE_INTEGER], limit: 2 });
  return collect(range).find(([, id]) => id !== record.id)?.[1];
}

const isSameBytes = (one: Uint8Array | undefined, other: Uint8Array | undefined) =>
  one === other || (one !== undefined && other !== undefined && Buffer.compare(one, other) === 0);

/** The records of a collection. Call the writing methods inside a write transaction. */
export class Records<Stored extends StoredRecord, Indexed extends string> {
  readonly #definition: CollectionDefinition<Stored, Indexed>;
  /** The data folder, for messages. */
  readonly #path: string;
  readonly #counter: ReturnType<typeof openCounter>;
  readonly #rows: Database<Decoded<StoredRecord>, number>;
  readonly #indexes: readonly IndexTable[];
  readonly #uniques: readonly IndexTable[];

  constructor(folder: DataFolder, definition: CollectionDefinition<Stored, Indexed>) {
    const { rows, indexes } = openCollectionTables(folder, definition);
    this.#definition = definition;
    this.#path = folder.path;
    this.#counter = openCounter(folder, recordCounter(definition.name));
    this.#rows = rows;
    this.#indexes = indexes;
    this.#uniques = indexes.filter(({ kind }) => kind === 'unique');
  }

  /** Adds a record under the next id. */
  insert(values: NewRecord<Stored>): Stored {
    const { recordName } = this.#definition;
    const id = this.#counter.last() + 1;
    const record = buildRecord<Stored>(this.#definition, id, values);
    // Even if the counter is damaged, no record is overwritten.
    if (this.#rows.doesExist(id)) {
      throw damaged(this.#path, `${recordName} ${id} already exists, although its id is new`);
    }
    this.restore(record);
    this.#counter.set(id);
    return record;
  }

  /** Adds a record under its own id, which must be free. */
  restore(record: Stored): void {
    this.#checkUnique(record);
    put(this.#rows, record.id, record);
    for (const index of this.#indexes) addToIndex(index, record);
  }

  update(id: number, change: RecordChange<Stored>, ifVersion?: number): Stored | undefined {
    const before = this.get(id);
    if (before === undefined) return undefined;
    checkVersion(this.#definition, before, ifVersion);
    const after = applyChange<Stored>(this.#definition, before, change);
    this.#checkUnique(after);
    put(this.#rows, id, after);
    for (const index of this.#indexes) {
      const [from, to] = [index.valueOf(before), index.valueOf(after)];
      if (isSameBytes(from, to)) continue;
      if (from !== undefined) index.ids.removeSync([from, id]);
      addToIndex(index, after);
    }
    return after;
  }

  remove(id: number, ifVersion?: number): boolean {
    const record = this.get(id);
    if (record === undefined) return false;
    checkVersion(this.#definition, record, ifVersion);
    this.#rows.removeSync(id);
    for (const { ids, valueOf } of this.#indexes) {
      const value = valueOf(record);
      if (value !== undefined) ids.removeSync([value, id]);
    }
    return true;
  }

  count(): number {
    return this.#rows.getCount();
  }

  lastId(): number {
    return this.#counter.last();
  }

  raiseLastId(id: number): void {
    if (id > this.#counter.last()) this.#counter.set(id);
  }

  get(id: number): Stored | undefined {
    const row = this.#rows.get(id);
    return row === undefined ? undefined : this.#checked(id, row);
  }

  /** Returns records with a greater id, in ascending order by id: up to `limit`, or up to the record that `isLast` accepts. */
  batch(after: number, limit: number, isLast: (record: Stored) => boolean): Stored[] {
    const range = this.#rows.getRange({ start: Math.max(after, 0) + 1 });
    return collect(
      range.map(({ key, value }) => this.#checked(key, value)),
      limit,
      isLast,
    );
  }

  list(
    { limit, cursor = 0 }: ListQuery<Stored, Indexed>,
    condition: IndexedCondition<Indexed> | undefined,
  ): Page<Stored> {
    const start = Math.max(cursor, 0) + 1;
    if (condition !== undefined) return this.#listIndexed(condition, start, limit);
    // Reads one more record than requested to find out whether there is a next page.
    const entries = collect(this.#rows.getRange({ start, limit: limit + 1 }));
    return {
      records: entries.slice(0, limit).map(({ key, value }) => this.#checked(key, value)),
      hasNext: entries.length > limit,
    };
  }

  #listIndexed(condition: IndexedCondition<Indexed>, start: number, limit: number): Page<Stored> {
    const index = this.#indexes.find(({ field }) => field === condition.field);
    if (index === undefined)
      throw new TypeError(`${this.#definition.name} has no index of ${condition.field}.`);
    const value = index.encode(condition.value);
    const range = index.ids.getKeys({
      start: [value, start],
      end: [value, Number.MAX_SAFE_INTEGER],
      limit: limit + 1,
    });
    const ids = collect(range).map(([, id]) => id);
    const records = ids.slice(0, limit).map((id) => {
      const record = this.#checked(id, this.#rows.get(id));
      const stored = index.valueOf(record);
      // Usually the same object, because an index caches encoded values.
      if (stored !== value && !isSameBytes(stored, value)) throw this.#damagedRecord(id);
      return record;
    });
    return { records, hasNext: ids.length > limit };
  }

  /**
   * Returns the record of a row.
   * @throws {StoreError} `damaged` if it is not what was stored under this id; `incompatible` if the schema rejects it
   */
  #checked(id: number, row: Decoded<StoredRecord> | undefined): Stored {
    if (row?.id !== id) throw this.#damagedRecord(id);
    return (
      this.#definition.check(row) ?? throwIncompatible(this.#definition, row, `the data folder ${this.#path}`)
    );
  }

  /** @throws {StoreError} `conflict` if another record has one of its unique values */
  #checkUnique(record: Stored): void {
    for (const index of this.#uniques) {
      const id = findDuplicate(index, record);
      if (id === undefined) continue;
      const { recordName } = this.#definition;
      throw new StoreError('conflict', `The ${recordName} ${id} already has the same ${index.field}.`);
    }
  }

  #damagedRecord(id: number): StoreError {
    return damaged(this.#path, `the record of ${this.#definition.recordName} ${id} is invalid`);
  }
}
