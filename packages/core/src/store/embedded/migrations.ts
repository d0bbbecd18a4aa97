import type { RootDatabase } from 'lmdb';
import type { CollectionDefinition, StoredRecord } from '../collection.ts';
import { throwIncompatible } from '../record.ts';
import { StoreError } from '../storeError.ts';
import { addToIndex, indexName, type IndexTable, openCollectionTables, findDuplicate } from './collection.ts';
import { decodeCompactAnimal } from './compactAnimal.ts';
import { recordCounter } from './counter.ts';
import { damaged } from './errors.ts';
import type { Layout, MetaTable } from './folder.ts';
import { idKey } from './idKey.ts';
import { openReservationTables } from './reservations.ts';
import { type Decoded, jsonRow, type ReservationRow } from './rows.ts';
import { collect, openTable, put } from './table.ts';

/** Version of the storage format. Increment it for a change that older code cannot read, and add a migration to `MIGRATIONS`. */
export const FORMAT = 3;

interface OpenedFolder {
  readonly path: string;
  readonly root: RootDatabase;
  readonly meta: MetaTable;
}

/** Migrates a folder from one format to the next. */
interface Migration {
  /** Opens the tables before the transaction. The returned function runs inside it. */
  readonly prepare: (folder: OpenedFolder) => () => void;
}

/** Migrations by the format that they start from. */
const MIGRATIONS: Readonly<Record<number, Migration>> = {
  /** Format 1 had only animals: one counter, a table per status, and reservations with an `animalId`. */
  1: {
    prepare({ root, meta, path }) {
      const { reservations } = openReservationTables({ root });
      const statuses = ['available', 'pending', 'sold'].map((status) =>
        openTable(root, indexName('animals', status), { encoding: 'binary', keyEncoding: 'binary' }),
      );
      return () => {
        const last = meta.get('lastAnimalId');
        if (typeof last !== 'number') throw damaged(path, 'petstore.mdb has no counter lastAnimalId');
        put(meta, recordCounter('animals'), last);
        // Processes of the earlier version that still run fail from here on, because they cannot maintain the new index.
        meta.removeSync('lastAnimalId');
        put(meta, 'layout', { animals: {} });
        for (const { key, value } of collect(reservations.getRange().map(copyKey))) {
          // A damaged row is kept: reading it reports the damage.
          if (value !== null) put(reservations, key, toFormat2(value));
        }
        for (const status of statuses) status.dropSync();
      };
    },
  },
  /** In format 2, animals had a binary layout that could not store further fields. Counters had another name. */
  2: {
    prepare(folder) {
      const { root, meta } = folder;
      const rows = openTable<Decoded<StoredRecord>, number>(root, 'animals', {
        encoder: { ...jsonRow<StoredRecord>(), decode: decodeCompactAnimal },
        keyEncoder: idKey,
      });
      return () => {
        // Processes of the earlier version that still run fail to create from here on. They would store the earlier layout.
        for (const name of Object.keys(layoutOf(folder))) {
          const last = meta.get(`${name}.lastId`);
          if (last === undefined) continue;
          put(meta, recordCounter(name), last);
          meta.removeSync(`${name}.lastId`);
        }
        for (const { key, value } of batches(rows)) if (value?.id === key) put(rows, key, value);
      };
    },
  },
};

const copyKey = ({ key, value }: { readonly key: Uint8Array; readonly value: Decoded<ReservationRow> }) => ({
  key: Buffer.from(key),
  value,
});

function toFormat2(row: ReservationRow | { readonly animalId: number }): ReservationRow {
  if (!('animalId' in row)) return row;
  const { animalId, ...rest } = row;
  return {
    ...(rest as Omit<ReservationRow, 'collection' | 'recordId'>),
    collection: 'animals',
    recordId: animalId,
  };
}

/**
 * Returns the format of a folder.
 * @throws {StoreError} `damaged` if it has none, or one of a newer version
 */
export function formatOf({ meta, path }: OpenedFolder): number {
  const format = meta.get('format');
  if (typeof format !== 'number') throw damaged(path, 'petstore.mdb has no format number');
  if (format <= FORMAT) return format;
  throw new StoreError(
    'damaged',
    `The data in ${path} has format ${format}, but this version supports formats up to ${FORMAT}. Start a newer version, or choose another folder.`,
  );
}

/** Returns the collections and indexes of a folder of any format. */
export function layoutOf(folder: OpenedFolder): Layout {
  if (formatOf(folder) === 1) return { animals: {} };
  const layout = folder.meta.get('layout');
  if (typeof layout === 'object' && layout !== null) return layout;
  throw damaged(folder.path, 'petstore.mdb has no list of collections');
}

/** @throws {StoreError} `damaged` if the folder has a collection that the code does not know */
export function rejectUnknown(folder: OpenedFolder, definitions: readonly CollectionDefinition[]): void {
  const unknown = Object.keys(layoutOf(folder)).find((name) =>
    definitions.every((definition) => definition.name !== name),
  );
  if (unknown === undefined) return;
  throw new StoreError(
    'damaged',
    `The data in ${folder.path} has a collection "${unknown}" that this version does not know. Start the version that created it, or choose another folder.`,
  );
}

/** Whether the format, collections and indexes of a folder are those of this version. */
export function isUpToDate(folder: OpenedFolder, definitions: readonly CollectionDefinition[]): boolean {
  if (formatOf(folder) < FORMAT) return false;
  const layout = layoutOf(folder);
  return definitions.every(({ name, indexes }) => {
    const storedIndexes = layout[name];
    return storedIndexes !== undefined && isSameLayout(storedIndexes, indexes);
  });
}

const isSameLayout = (one: Layout[string], other: Layout[string]) =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([field, kind]) => other[field] === kind);

/**
 * Migrates a folder in one transaction: its format, then its collections and their indexes. After an interruption the next
 * start runs the migration again.
 * @returns a sentence for each change
 */
export function bringUpToDate(folder: OpenedFolder, definitions: readonly CollectionDefinition[]): string[] {
  const { meta, path, root } = folder;
  // Tables are opened first, because lmdb opens them in separate transactions.
  const migrations: [from: number, run: () => void][] = [];
  for (let from = formatOf(folder); from < FORMAT; from += 1) {
    const migration = MIGRATIONS[from];
    if (migration === undefined) throw damaged(path, `petstore.mdb has the invalid format ${from}`);
    migrations.push([from, migration.prepare(folder)]);
  }
  const opened = definitions.map((definition) => ({
    definition,
    ...openCollectionTables(folder, definition),
  }));
  const dropped = indexesToDrop(folder, definitions);

  return root.transactionSync(() => {
    const done: string[] = [];
    for (const [from, run] of migrations) {
      // Another process may have run this migration since.
      if (formatOf(folder) !== from) continue;
      run();
      put(meta, 'format', from + 1);
      done.push(`Migrated the data in ${path} from format ${from} to ${from + 1}.`);
    }
    const layout: Record<string, Layout[string]> = { ...layoutOf(folder) };
    for (const { definition, rows, indexes } of opened) {
      const { name } = definition;
      const storedIndexes = layout[name];
      if (storedIndexes === undefined) {
        put(meta, recordCounter(name), 0);
        done.push(`Added the collection ${name} to the data in ${path}.`);
      }
      for (const index of indexes) {
        if (storedIndexes?.[index.field] === index.kind) continue;
        const count = fillIndex(path, definition, rows, index, storedIndexes?.[index.field] !== undefined);
        if (storedIndexes !== undefined) done.push(`Indexed ${name} by ${index.field}: ${count} records.`);
      }
      layout[name] = definition.indexes;
    }
    for (const table of dropped) table.dropSync();
    put(meta, 'layout', layout);
    return done;
  });
}

/** Opens the tables of indexes that were removed from their definitions. */
function indexesToDrop(folder: OpenedFolder, definitions: readonly CollectionDefinition[]) {
  const layout = layoutOf(folder);
  return definitions.flatMap(({ name, indexes }) =>
    Object.keys(layout[name] ?? {})
      .filter((field) => !(field in indexes))
      .map((field) =>
        openTable(folder.root, indexName(name, field), { encoding: 'binary', keyEncoding: 'binary' }),
      ),
  );
}

/** Number of rows read at once. */
const BATCH = 1_000;

/**
 * Adds all rows to an index.
 * @param isFilled whether the entries exist already, and only their uniqueness is checked
 * @returns the number of intact rows
 * @throws {StoreError} `conflict` if a unique index would have a duplicate; `incompatible` if the schema rejects a row
 */
function fillIndex(
  path: string,
  definition: CollectionDefinition,
  rows: Rows,
  index: IndexTable,
  isFilled: boolean,
): number {
  const { name, recordName } = definition;
  let count = 0;
  for (const { key, value } of batches(rows)) {
    // A damaged row is not indexed: reading it reports the damage.
    if (value?.id !== key) continue;
    const record = definition.check(value) ?? throwIncompatible(definition, value, `the data folder ${path}`);
    const other = index.kind === 'unique' ? findDuplicate(index, record) : undefined;
    if (other !== undefined) {
      throw new StoreError(
        'conflict',
        `The data in ${path} cannot have a unique index of ${name} by ${index.field}: ${recordName} ${other} and ${key} have the same value. Start the earlier version and change one of them.`,
      );
    }
    if (!isFilled) addToIndex(index, record);
    count += 1;
  }
  return count;
}

type Rows = ReturnType<typeof openCollectionTables>['rows'];

/** Yields all rows in ascending order of id, also while they are written. */
function* batches(rows: Rows) {
  for (let after = 0; ;) {
    const page = collect(rows.getRange({ start: after + 1, limit: BATCH }));
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.key;
  }
}
