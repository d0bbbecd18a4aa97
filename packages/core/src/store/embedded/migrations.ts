import type { RootDatabase } from 'lmdb';
import { type CollectionDefinition, singular } from '../collection.ts';
import type { Decoded } from '../rowCodec.ts';
import { StoreError } from '../storeError.ts';
import { addToIndex, indexName, type IndexTable, openCollectionTables, findDuplicate } from './collection.ts';
import { recordCounter } from './counter.ts';
import { damaged } from './errors.ts';
import type { Layout, MetaTable } from './folder.ts';
import { openReservationTables, type ReservationRow } from './reservations.ts';
import { collect, openTable, put } from './table.ts';

/** The layout of what is stored. A change that older code cannot read counts it up, and adds a step to `STEPS`. */
export const FORMAT = 2;

interface OpenedFolder {
  readonly path: string;
  readonly root: RootDatabase;
  readonly meta: MetaTable;
}

/** A step from one format to the next. It runs inside the transaction that brings the folder up to date. */
interface Migration {
  /** Opens what it needs, before the transaction. */
  readonly prepare: (folder: OpenedFolder) => () => void;
}

/** By the format from which they start. */
const MIGRATIONS: Readonly<Record<number, Migration>> = {
  /** Format 1 knew animals alone: one counter, a table for each status, and reservations that named an `animalId`. */
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
        // A process of the earlier version that still runs fails from here on: it could not keep the index.
        meta.removeSync('lastAnimalId');
        put(meta, 'layout', { animals: {} });
        for (const { key, value } of collect(reservations.getRange().map(copyKey))) {
          // A damaged one stays as it is: the read of it reports it.
          if (value !== null) put(reservations, key, toFormat2(value));
        }
        for (const status of statuses) status.dropSync();
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
 * The format of a folder.
 * @throws {StoreError} `damaged` where it has none, or one that only a newer version knows
 */
export function formatOf({ meta, path }: OpenedFolder): number {
  const format = meta.get('format');
  if (typeof format !== 'number') throw damaged(path, 'petstore.mdb does not say which format it has');
  if (format <= FORMAT) return format;
  throw new StoreError(
    'damaged',
    `The data in ${path} has format ${format} and this version knows ${FORMAT} at most: start a newer version, or choose another folder.`,
  );
}

/** The collections of a folder, whatever its format. */
export function layoutOf(folder: OpenedFolder): Layout {
  if (formatOf(folder) === 1) return { animals: {} };
  const layout = folder.meta.get('layout');
  if (typeof layout === 'object' && layout !== null) return layout;
  throw damaged(folder.path, 'petstore.mdb does not say which collections it has');
}

/** @throws {StoreError} `damaged` for a collection in the data that the code does not know */
export function rejectUnknown(folder: OpenedFolder, definitions: readonly CollectionDefinition[]): void {
  const unknown = Object.keys(layoutOf(folder)).find((name) =>
    definitions.every((definition) => definition.name !== name),
  );
  if (unknown === undefined) return;
  throw new StoreError(
    'damaged',
    `The data in ${folder.path} has a collection "${unknown}" that this version does not know: start the version that made it, or choose another folder.`,
  );
}

/** Whether a folder has the format, the collections and the indexes of this version. */
export function isUpToDate(folder: OpenedFolder, definitions: readonly CollectionDefinition[]): boolean {
  if (formatOf(folder) < FORMAT) return false;
  const layout = layoutOf(folder);
  return definitions.every(({ name, indexes }) => {
    const found = layout[name];
    return found !== undefined && isSameLayout(found, indexes);
  });
}

const isSameLayout = (one: Layout[string], other: Layout[string]) =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([field, kind]) => other[field] === kind);

/**
 * Brings a folder up to date, in one transaction: its format, then its collections and their indexes. It is done as a
 * whole or not at all, so one that was interrupted starts again.
 * @returns what was done, in sentences
 */
export function bringUpToDate(folder: OpenedFolder, definitions: readonly CollectionDefinition[]): string[] {
  const { meta, path, root } = folder;
  // lmdb opens tables in transactions of its own.
  const migrations: [from: number, run: () => void][] = [];
  for (let from = formatOf(folder); from < FORMAT; from += 1) {
    const migration = MIGRATIONS[from];
    if (migration === undefined) throw damaged(path, `petstore.mdb states the impossible format ${from}`);
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
      // Another process may have done it since.
      if (formatOf(folder) !== from) continue;
      run();
      put(meta, 'format', from + 1);
      done.push(`Migrated the data in ${path} from format ${from} to ${from + 1}.`);
    }
    const layout: Record<string, Layout[string]> = { ...layoutOf(folder) };
    for (const { definition, rows, indexes } of opened) {
      const { name } = definition;
      const found = layout[name];
      if (found === undefined) {
        put(meta, recordCounter(name), 0);
        done.push(`Added the collection ${name} to the data in ${path}.`);
      }
      for (const index of indexes) {
        if (found?.[index.field] === index.kind) continue;
        const count = fillIndex(path, definition, rows, index, found?.[index.field] !== undefined);
        if (found !== undefined) done.push(`Indexed ${name} by ${index.field}: ${count} records.`);
      }
      layout[name] = definition.indexes;
    }
    for (const table of dropped) table.dropSync();
    put(meta, 'layout', layout);
    return done;
  });
}

/** Tables of indexes that no definition has any more. */
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

/** How many rows are read at once. */
const BATCH = 1_000;

/** Makes the entries of an index of the rows. @param isFilled whether they are there, and only their uniqueness is new */
function fillIndex(
  path: string,
  { name }: CollectionDefinition,
  rows: ReturnType<typeof openCollectionTables>['rows'],
  index: IndexTable,
  isFilled: boolean,
): number {
  let count = 0;
  for (let after = 0; ;) {
    const page = collect(rows.getRange({ start: after + 1, limit: BATCH }));
    for (const { key, value } of page) {
      // A damaged row is in no index: the read of it reports it.
      if (value?.id !== key) continue;
      const other = index.kind === 'unique' ? findDuplicate(index, value) : undefined;
      if (other !== undefined) {
        throw new StoreError(
          'conflict',
          `The data in ${path} cannot get a unique index of ${name} by ${index.field}: ${singular(name)} ${other} and ${key} have the same. Start the earlier version and change one of them.`,
        );
      }
      if (!isFilled) addToIndex(index, value);
      count += 1;
    }
    const last = page.at(-1);
    if (last === undefined) return count;
    after = last.key;
  }
}
