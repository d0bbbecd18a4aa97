import type { Database } from 'lmdb';
import type {
  CollectionDefinition,
  IndexedCondition,
  IndexKind,
  NewRecord,
  RecordChange,
  StoredRecord,
} from '../collection.ts';
import { applyChange, buildRecord, checkVersion, throwIncompatible } from '../record.ts';
import type { ListQuery, Page } from '../store.ts';
import { StoreError } from '../storeError.ts';
import { openCounter, recordCounter } from './counter.ts';
import { damaged } from './errors.ts';
import { idKey } from './idKey.ts';
import { encodeIndexValue, indexKey, type IndexKey } from './indexKey.ts';
import type { DataFolder } from './folder.ts';
import { type Decoded, jsonRow } from './rows.ts';
import { collect, EMPTY_VALUE, openTable, put, type TableRoot } from './table.ts';

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

/** Returns the name of an index's table. */
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

/** Opens the records of a collection. Call the writing methods inside a write transaction. */
export function openCollection<Stored extends StoredRecord, Indexed extends string>(
  folder: DataFolder,
  definition: CollectionDefinition<Stored, Indexed>,
) {
  const { path } = folder;
  const { recordName, name } = definition;
  const counter = openCounter(folder, recordCounter(name));
  const { rows, indexes } = openCollectionTables(folder, definition);
  const uniques = indexes.filter(({ kind }) => kind === 'unique');

  const damagedRecord = (id: number) => damaged(path, `the record of ${recordName} ${id} is invalid`);

  /**
   * Returns the record of a row.
   * @throws {StoreError} `damaged` if it is not what was stored under this id; `incompatible` if the schema rejects it
   */
  function checked(id: number, row: Decoded<StoredRecord> | undefined): Stored {
    if (row?.id !== id) throw damagedRecord(id);
    return definition.check(row) ?? throwIncompatible(definition, row, `the data folder ${path}`);
  }

  function find(id: number): Stored | undefined {
    const row = rows.get(id);
    return row === undefined ? undefined : checked(id, row);
  }

  /** @throws {StoreError} `conflict` */
  function checkUnique(record: Stored): void {
    for (const index of uniques) {
      const id = findDuplicate(index, record);
      if (id === undefined) continue;
      throw new StoreError('conflict', `The ${recordName} ${id} already has the same ${index.field}.`);
    }
  }

  function store(record: Stored): void {
    put(rows, record.id, record);
    for (const index of indexes) addToIndex(index, record);
  }

  return {
    definition,

    /** Adds a record under the next id. */
    insert(values: NewRecord<Stored>): Stored {
      const id = counter.last() + 1;
      const record = buildRecord<Stored>(definition, id, values);
      // Even if the counter is damaged, no record is overwritten.
      if (rows.doesExist(id))
        throw damaged(path, `${recordName} ${id} already exists, although its id is new`);
      checkUnique(record);
      store(record);
      counter.set(id);
      return record;
    },

    /** Adds a record under its own id, which must be free. */
    restore(record: Stored): void {
      checkUnique(record);
      store(record);
    },

    update(id: number, change: RecordChange<Stored>, ifVersion?: number): Stored | undefined {
      const before = find(id);
      if (before === undefined) return undefined;
      checkVersion(definition, before, ifVersion);
      const after = applyChange<Stored>(definition, before, change);
      checkUnique(after);
      put(rows, id, after);
      for (const index of indexes) {
        const [from, to] = [index.valueOf(before), index.valueOf(after)];
        if (isSameBytes(from, to)) continue;
        if (from !== undefined) index.ids.removeSync([from, id]);
        addToIndex(index, after);
      }
      return after;
    },

    remove(id: number, ifVersion?: number): boolean {
      const record = find(id);
      if (record === undefined) return false;
      checkVersion(definition, record, ifVersion);
      rows.removeSync(id);
      for (const { ids, valueOf } of indexes) {
        const value = valueOf(record);
        if (value !== undefined) ids.removeSync([value, id]);
      }
      return true;
    },

    count: (): number => rows.getCount(),
    lastId: (): number => counter.last(),

    raiseLastId(id: number): void {
      if (id > counter.last()) counter.set(id);
    },

    get: find,

    /** Returns records with a greater id, in ascending order by id: up to `limit`, or up to the record that `isLast` accepts. */
    batch(after: number, limit: number, isLast: (record: Stored) => boolean): Stored[] {
      const range = rows.getRange({ start: Math.max(after, 0) + 1 });
      return collect(
        range.map(({ key, value }) => checked(key, value)),
        limit,
        isLast,
      );
    },

    list(
      { limit, cursor = 0 }: ListQuery<Stored, Indexed>,
      condition: IndexedCondition<Indexed> | undefined,
    ): Page<Stored> {
      const start = Math.max(cursor, 0) + 1;
      // Reads one more record than requested to find out whether there is a next page.
      if (condition === undefined) {
        const entries = collect(rows.getRange({ start, limit: limit + 1 }));
        return {
          records: entries.slice(0, limit).map(({ key, value }) => checked(key, value)),
          hasNext: entries.length > limit,
        };
      }
      const index = indexes.find(({ field }) => field === condition.field);
      if (index === undefined) throw new TypeError(`${name} has no index of ${condition.field}.`);
      const value = index.encode(condition.value);
      const range = index.ids.getKeys({
        start: [value, start],
        end: [value, Number.MAX_SAFE_INTEGER],
        limit: limit + 1,
      });
      const ids = collect(range).map(([, id]) => id);
      const records = ids.slice(0, limit).map((id) => {
        const record = checked(id, rows.get(id));
        const stored = index.valueOf(record);
        // Usually the same object, because an index caches encoded values.
        if (stored !== value && !isSameBytes(stored, value)) throw damagedRecord(id);
        return record;
      });
      return { records, hasNext: ids.length > limit };
    },
  };
}
