import { resolve } from 'node:path';
import { type CollectionDefinition, mismatch, singular } from '@petstore/core/store';
import type { Database } from 'lmdb';
import { indexName, type IndexTable, openCollectionTables } from '../collection.ts';
import { KEY_COUNTER, openCounter, recordCounter } from '../table.ts';
import { openKeyTables } from '../keys.ts';
import type { DataFolder } from '../folder.ts';
import { openDataFolder } from '../open.ts';
import { expiryEntry, openReservationTables } from '../reservations.ts';

/** Returns the names of a data folder's tables in the order in which they are verified. */
export const verifiedTables = (collections: readonly CollectionDefinition[]): readonly string[] => [
  ...collections.flatMap(({ name, indexes }) => [
    name,
    ...Object.keys(indexes).map((field) => indexName(name, field)),
  ]),
  'keys',
  'keys.hashes',
  'reservations',
  'reservations.expiries',
  'reservations.callers',
];

/** Result of verifying one table. */
export interface TableReport {
  readonly table: string;
  readonly entries: number;
  /** Descriptions of the first 20 errors, each a clause without a full stop. */
  readonly errors: readonly string[];
  readonly errorCount: number;
  /** Whether data is damaged. `false` if the only errors are intact records that the schemas of this version reject. */
  readonly isDamaged: boolean;
}

export interface VerifyOptions {
  readonly dataDir: string;
  /** Tables to read: names from `verifiedTables`. */
  readonly tables: readonly string[];
  readonly collections: readonly CollectionDefinition[];
  /** Called before each table, and after every 100 entries with the key of the last one. */
  readonly onProgress?: (table: string, last?: string) => void;
  /** Called after each table. */
  readonly onTable: (report: TableReport) => void;
}

/** Maximum number of errors described per table. */
const MAX_REPORTED = 20;

/** Number of entries between two progress reports. */
const PROGRESS_INTERVAL = 100;

/**
 * Verifies tables of a data folder: it reads every entry in one snapshot, checks the checksum of each row and the references
 * between tables. Other processes may use the folder at the same time. Reading is synchronous. LMDB ends the process
 * (SIGABRT, SIGSEGV, SIGBUS) when it walks a damaged page, so call this function in a separate process.
 * @throws {StoreError} if the folder cannot be opened
 */
export async function verifyFolder({
  dataDir,
  tables,
  collections,
  onProgress = () => {},
  onTable,
}: VerifyOptions): Promise<void> {
  const folder = await openDataFolder(resolve(dataDir), { create: false, migrate: false, collections });
  try {
    const tablesByName = new Map([
      ...collections.flatMap((definition) => collectionTables(folder, definition)),
      ...internalTables(folder),
    ]);
    for (const table of tables) {
      const verified = tablesByName.get(table);
      if (verified === undefined) throw new TypeError(`There is no table ${table}.`);
      // After a failed read a snapshot is unusable.
      folder.root.resetReadTxn();
      onProgress(table);
      const reported: string[] = [];
      let errorCount = 0;
      let isDamaged = false;
      const report: Report = (clause, isIntact = false) => {
        errorCount += 1;
        isDamaged ||= !isIntact;
        if (reported.length < MAX_REPORTED) reported.push(clause);
      };
      let entries = 0;
      try {
        verified.walk((last) => {
          entries += 1;
          if (entries % PROGRESS_INTERVAL === 0) onProgress(table, last);
        }, report);
        const counted = verified.table.getCount();
        if (entries !== counted) report(`it has ${entries} entries, but LMDB counted ${counted}`);
      } catch (error) {
        report(`LMDB cannot read it beyond entry ${entries} (${String(error)})`);
      }
      onTable({ table, entries, errors: reported, errorCount, isDamaged });
    }
  } finally {
    await folder.close();
  }
}

/** Reads a table. Calls `onEntry` with a label of each entry, and `report` with a description of each error. */
type Walk = (onEntry: (key: string) => void, report: Report) => void;

/** Reports an error as a clause. `isIntact`: the data is what was stored. */
type Report = (clause: string, isIntact?: boolean) => void;

interface VerifiedTable {
  /** Has LMDB's own count of entries. */
  readonly table: Pick<Database, 'getCount'>;
  readonly walk: Walk;
}

function collectionTables(
  folder: DataFolder,
  definition: CollectionDefinition,
): [name: string, table: VerifiedTable][] {
  const { name, recordName } = definition;
  const { rows, indexes } = openCollectionTables(folder, definition);
  const counter = openCounter(folder, recordCounter(name));

  const walkRows: Walk = (onEntry, report) => {
    let last = 0;
    for (const { key, value } of rows.getRange()) {
      const record = definition.check(value);
      if (value?.id !== key) report(`the record of ${recordName} ${key} is invalid`);
      else if (record === undefined) report(`${recordName} ${key}: ${mismatch(definition, value)}`, true);
      else {
        for (const { field, ids, valueOf } of indexes) {
          const indexed = valueOf(record);
          if (indexed !== undefined && !ids.doesExist([indexed, key])) {
            report(`${recordName} ${key} is not in the index of ${field}`);
          }
        }
      }
      last = key;
      onEntry(`${recordName} ${key}`);
    }
    if (last > counter.last()) {
      report(`the counter of ids (${counter.last()}) is behind ${recordName} ${last}`);
    }
  };
  const walkIndex =
    ({ field, ids, valueOf }: IndexTable): Walk =>
    (onEntry, report) => {
      for (const [value, id] of ids.getKeys()) {
        // Copied, because lmdb's buffers are valid only until its next read.
        const indexed = Buffer.from(value);
        const row = rows.get(id);
        const record = row ? definition.check(row) : undefined;
        const stored = record && valueOf(record);
        // A record that cannot be read was reported for the collection's table.
        const isReadable = row === undefined || record !== undefined;
        if (isReadable && (stored === undefined || Buffer.compare(stored, indexed) !== 0)) {
          report(`it names ${recordName} ${id}, which has another ${field}`);
        }
        onEntry(`${recordName} ${id}`);
      }
    };
  return [
    [name, { table: rows, walk: walkRows }],
    ...indexes.map((index): [string, VerifiedTable] => [
      indexName(name, index.field),
      { table: index.ids, walk: walkIndex(index) },
    ]),
  ];
}

function internalTables(folder: DataFolder): [name: string, table: VerifiedTable][] {
  const { keys, hashes } = openKeyTables(folder);
  const { reservations, expiries, callers } = openReservationTables(folder);
  const keyCounter = openCounter(folder, KEY_COUNTER);

  const walkKeys: Walk = (onEntry, report) => {
    let last = 0;
    for (const { key, value } of keys.getRange()) {
      // Copied, because lmdb's buffers are valid only until its next read.
      const hash = Buffer.from(key).toString();
      if (value?.record.hash !== hash) report('the record of an API key is invalid');
      else {
        const { number, record } = value;
        last = Math.max(last, number);
        const indexedHash = hashes.get(Buffer.from(record.name));
        // A damaged entry is reported for its own table.
        if (indexedHash !== null && indexedHash !== hash) {
          report(`the API key ${JSON.stringify(record.name)} is not in the index of names`);
        }
      }
      onEntry('an API key');
    }
    if (last > keyCounter.last()) {
      report(`the counter of API keys (${keyCounter.last()}) is behind number ${last}`);
    }
  };
  const walkHashes: Walk = (onEntry, report) => {
    for (const { key, value } of hashes.getRange()) {
      const name = JSON.stringify(Buffer.from(key).toString());
      if (value === null || value === undefined) report(`the index entry of the API key ${name} is invalid`);
      else if (keys.get(Buffer.from(value)) === undefined) report(`the API key ${name} has no record`);
      onEntry(`the API key ${name}`);
    }
  };
  const walkReservations: Walk = (onEntry, report) => {
    for (const { key, value } of reservations.getRange()) {
      const digest = Buffer.from(key);
      if (value === null) report('the record of an idempotency key is invalid');
      else {
        const { collection, recordId, expiresAt } = value;
        const created = `${singular(collection)} ${recordId}`;
        // The record may have been deleted since, but it must have been created.
        if (recordId > openCounter(folder, recordCounter(collection)).last()) {
          report(`an idempotency key names ${created}, which was never created`);
        }
        if (!expiries.doesExist(expiryEntry(expiresAt, digest))) {
          report(`the idempotency key of ${created} is not in the index of expiry times`);
        }
      }
      onEntry('an idempotency key');
    }
  };
  const walkExpiries: Walk = (onEntry, report) => {
    const now = Date.now();
    for (const key of expiries.getKeys()) {
      const entry = Buffer.from(key);
      const expiresAt = entry.readDoubleBE();
      const reservation = reservations.get(entry.subarray(8));
      // Expired entries may remain: a sweep removes a few at a time, and a key that is used again after it expired gets a
      // second entry.
      if (expiresAt > now && reservation !== null && !((reservation?.expiresAt ?? 0) >= expiresAt)) {
        report(`the entry that expires at ${new Date(expiresAt).toISOString()} has no idempotency key`);
      }
      onEntry('an idempotency key');
    }
  };
  const walkCallers: Walk = (onEntry, report) => {
    for (const { value } of callers.getRange()) {
      if (value === null) report("the record of a caller's idempotency keys is invalid");
      onEntry('the idempotency keys of a caller');
    }
  };
  return [
    ['keys', { table: keys, walk: walkKeys }],
    ['keys.hashes', { table: hashes, walk: walkHashes }],
    ['reservations', { table: reservations, walk: walkReservations }],
    ['reservations.expiries', { table: expiries, walk: walkExpiries }],
    ['reservations.callers', { table: callers, walk: walkCallers }],
  ];
}
