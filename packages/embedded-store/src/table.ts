import type { Database, Key, RootDatabase, RootDatabaseOptions } from 'lmdb';
import { damaged } from './errors.ts';
import type { DataFolder } from './folder.ts';

/** Has the database that contains the tables. */
export type TableRoot = Pick<DataFolder, 'root'>;

/** Value of an entry that has all its data in the key. */
export const EMPTY_VALUE = Buffer.alloc(0);

/** Opens a table. lmdb accepts codecs for every table, but its declarations only for the root database. */
export function openTable<Value, TableKey extends Key>(
  root: RootDatabase,
  name: string,
  options: Pick<RootDatabaseOptions, 'encoder' | 'encoding' | 'keyEncoder' | 'keyEncoding'>,
): Database<Value, TableKey> {
  return root.openDB<Value, TableKey>(name, options);
}

/** Stores an entry. Call it inside a write transaction. */
export function put<Value, TableKey extends Key>(
  table: Database<Value, TableKey>,
  key: TableKey,
  value: Value,
): void {
  // Declared as void, but it returns whether it succeeded. Otherwise LMDB found damaged pages.
  const done: unknown = table.putSync(key, value);
  if (done !== true) {
    throw Object.assign(new Error('LMDB could not place an entry'), { code: 'MDB_CORRUPTED' });
  }
}

/** Entries of a range, to `limit` or `isLast`. `for…of` leaves cursor and snapshot open if lmdb throws. */
export function collect<Entry>(
  range: Iterable<Entry>,
  limit = Infinity,
  isLast: (entry: Entry) => boolean = () => false,
): Entry[] {
  const entries = range[Symbol.iterator]();
  const all: Entry[] = [];
  try {
    while (all.length < limit) {
      const entry = entries.next();
      if (entry.done === true) break;
      all.push(entry.value);
      if (isLast(entry.value)) break;
    }
  } finally {
    entries.return?.();
  }
  return all;
}

export const KEY_COUNTER = 'lastKeyNumber';

export const recordCounter = (collection: string) => `${collection}.lastRecordId`;

/** Opens a durable counter. It assigns each number once. */
export function openCounter({ path, meta }: DataFolder, name: string) {
  return {
    /** Returns the last assigned number; 0 before the first. */
    last(): number {
      const last = meta.get(name);
      if (typeof last !== 'number') throw damaged(path, `petstore.mdb has no counter ${name}`);
      return last;
    },
    /** Call it inside a write transaction. */
    set(last: number): void {
      put(meta, name, last);
    },
  };
}
