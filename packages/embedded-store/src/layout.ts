import { type CollectionDefinition, StoreError, throwIncompatible } from '@petstore/core/store';
import type { Database } from 'lmdb';
import { transactSync } from 'trpc-gateway-shared/lmdb';
import { addToIndex, findDuplicate, indexName, type IndexTable, openCollectionTables } from './collection.ts';
import { damaged } from './errors.ts';
import type { DataFolder, Layout } from './folder.ts';
import { collect, openTable, put, recordCounter } from './table.ts';

/** Version of the storage format. Increment it for a change that older code cannot read. */
export const FORMAT = 1;

type OpenedFolder = Pick<DataFolder, 'file' | 'meta' | 'path' | 'root'>;

/** @throws {StoreError} `damaged` if the folder has no format number, or that of another version */
export function checkFormat({ meta, path }: OpenedFolder): void {
  const format = meta.get('format');
  if (typeof format !== 'number') throw damaged(path, 'petstore.mdb has no format number');
  if (format === FORMAT) return;
  throw new StoreError(
    'damaged',
    `The data in ${path} has format ${format}, but this version supports format ${FORMAT}. Start the version that created it, or choose another folder.`,
  );
}

/** Returns the collections and indexes of a folder. */
export function layoutOf({ meta, path }: OpenedFolder): Layout {
  const layout = meta.get('layout');
  if (typeof layout === 'object' && layout !== null) return layout;
  throw damaged(path, 'petstore.mdb has no list of collections');
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

/** Whether the collections and indexes of a folder are those of this version. */
export function isUpToDate(folder: OpenedFolder, definitions: readonly CollectionDefinition[]): boolean {
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
 * Adds missing collections and indexes to a folder, and drops indexes that were removed, in one transaction. After an
 * interruption the next start does it again.
 * @returns a sentence for each change
 */
export function bringUpToDate(folder: OpenedFolder, definitions: readonly CollectionDefinition[]): string[] {
  const { file, meta, path, root } = folder;
  return transactSync(root, file, () => {
    const opened = definitions.map((definition) => ({
      definition,
      ...openCollectionTables(folder, definition),
    }));
    const dropped = openDroppedIndexes(folder, definitions);
    const done: string[] = [];
    // Another process may have changed it since.
    const layout: Record<string, Layout[string]> = { ...layoutOf(folder) };
    for (const { definition, rows, indexes } of opened) {
      const { name } = definition;
      const storedIndexes = layout[name];
      if (storedIndexes === undefined) {
        put(meta, recordCounter(name), 0);
        done.push(`Added the collection ${name} to the data in ${path}.`);
      }
      for (const index of indexes) {
        const storedKind = storedIndexes?.[index.field];
        if (storedKind === index.kind) continue;
        let count = 0;
        for (const record of records(path, definition, rows)) {
          checkUnique(path, definition, index, record);
          // With another kind, the index has the entries already, and only their uniqueness is checked.
          if (storedKind === undefined) addToIndex(index, record);
          count += 1;
        }
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
function openDroppedIndexes(
  folder: OpenedFolder,
  definitions: readonly CollectionDefinition[],
): Database<Buffer, Uint8Array>[] {
  const layout = layoutOf(folder);
  return definitions.flatMap(({ name, indexes }) =>
    Object.keys(layout[name] ?? {})
      .filter((field) => !(field in indexes))
      .map((field) =>
        openTable<Buffer, Uint8Array>(folder.root, indexName(name, field), {
          encoding: 'binary',
          keyEncoding: 'binary',
        }),
      ),
  );
}

/** Number of rows read at once. */
const BATCH = 1_000;

/**
 * Yields intact records by ascending id, also while an index is written. Reading a damaged row reports it.
 * @throws {StoreError} `incompatible` if the schema rejects a row
 */
function* records(path: string, definition: CollectionDefinition, rows: Rows) {
  for (let after = 0; ;) {
    const page = collect(rows.getRange({ start: after + 1, limit: BATCH }));
    for (const { key, value } of page) {
      if (value?.id !== key) continue;
      yield definition.check(value) ?? throwIncompatible(definition, value, `the data folder ${path}`);
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.key;
  }
}

type Rows = ReturnType<typeof openCollectionTables>['rows'];

/** @throws {StoreError} `conflict` if the index is unique, and has another record with the same value */
function checkUnique(
  path: string,
  { name, recordName }: CollectionDefinition,
  index: IndexTable,
  record: { readonly id: number },
): void {
  const other = index.kind === 'unique' ? findDuplicate(index, record) : undefined;
  if (other === undefined) return;
  throw new StoreError(
    'conflict',
    `The data in ${path} cannot have a unique index of ${name} by ${index.field}: ${recordName} ${other} and ${record.id} have the same value. Start the earlier version and change one of them.`,
  );
}
