import type { Database, Key, RootDatabase, RootDatabaseOptions } from 'lmdb';

/** What a table is opened in. */
export interface TableRoot {
  readonly root: RootDatabase;
}

/** Opens one table. Its declarations take codecs for the root database only; lmdb takes them for any. */
export function openTable<Value, TableKey extends Key>(
  root: RootDatabase,
  name: string,
  options: Pick<RootDatabaseOptions, 'encoder' | 'encoding' | 'keyEncoder' | 'keyEncoding'>,
): Database<Value, TableKey> {
  return root.openDB<Value, TableKey>(name, options);
}

/** Stores an entry inside a write transaction. */
export function put<Value, TableKey extends Key>(
  table: Database<Value, TableKey>,
  key: TableKey,
  value: Value,
): void {
  // Declared as void, but it says whether it was done. LMDB found its own pages damaged where it was not.
  const done: unknown = table.putSync(key, value);
  if (done !== true) {
    throw Object.assign(new Error('LMDB could not place an entry'), { code: 'MDB_CORRUPTED' });
  }
}

/** All that a range holds, or its first entries: so many, or up to one that is the last. By hand: where lmdb fails on the way, `for…of` would leave its cursor and snapshot open. */
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
