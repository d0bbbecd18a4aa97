import { resolve } from 'node:path';
import { PetStatus } from '../../schemas.ts';
import { openAnimalTables } from './animals.ts';
import { openCounter } from './counter.ts';
import { toStoreError } from './errors.ts';
import { openKeyTables } from './keys.ts';
import { type DataFolder, openDataFolder } from './open.ts';
import { expiryEntry, openReservationTables } from './reservations.ts';

/** The tables of a data folder, in the order in which they are verified. */
export const verifiedTables = [
  'animals',
  ...PetStatus.options.map((status) => `animals.${status}` as const),
  'keys',
  'keys.hashes',
  'reservations',
  'reservations.expiries',
  'reservations.callers',
] as const;
export type VerifiedTable = (typeof verifiedTables)[number];

/** What was found in one table. */
export interface TableReport {
  readonly table: VerifiedTable;
  readonly entries: number;
  /** What is not as it was stored, each in a clause: the first 20. */
  readonly faults: readonly string[];
  /** How many there are in all. */
  readonly faultCount: number;
}

export interface VerifyOptions {
  readonly dataDir: string;
  readonly tables: readonly VerifiedTable[];
  /** Called before a table is read, and again after each 100 of its entries, with the key of the last one. */
  readonly onProgress: (table: VerifiedTable, last?: string) => void;
  readonly onTable: (report: TableReport) => void;
}

/** How many faults of a table are named. */
const NAMED = 20;

/** How many entries are read between two reports of progress. */
const STEP = 100;

/**
 * Reads every entry of some tables, compares each row with its checksum and each table with those that it refers to, in one
 * snapshot:
 * processes may use the folder meanwhile. It is synchronous. LMDB ends the process (SIGABRT, SIGSEGV, SIGBUS) where a
 * page that it walks is damaged, so call it in a process of its own.
 * @throws {StoreError} where the folder cannot be opened
 */
export async function verifyFolder({ dataDir, tables, onProgress, onTable }: VerifyOptions): Promise<void> {
  const path = resolve(dataDir);
  const folder = await openDataFolder(path, false).catch((error: unknown) => {
    throw toStoreError(error, path);
  });
  try {
    const { walks, count } = openWalks(folder);
    for (const table of tables) {
      // A snapshot is of no use any more when a read of it has failed.
      folder.root.resetReadTxn();
      onProgress(table);
      const named: string[] = [];
      let faultCount = 0;
      const fault = (clause: string) => {
        faultCount += 1;
        if (named.length < NAMED) named.push(clause);
      };
      let entries = 0;
      try {
        walks[table]((last) => {
          entries += 1;
          if (entries % STEP === 0) onProgress(table, last);
        }, fault);
        const counted = count[table]();
        if (entries !== counted) fault(`it has ${entries} entries where LMDB counted ${counted}`);
      } catch (error) {
        fault(`LMDB cannot read it beyond entry ${entries} (${String(error)})`);
      }
      onTable({ table, entries, faults: named, faultCount });
    }
  } finally {
    await folder.close();
  }
}

/** Reads a table: calls `at` with the key of each entry, and `fault` with what is wrong. */
type Walk = (at: (key: string) => void, fault: (clause: string) => void) => void;

function openWalks(folder: DataFolder): {
  readonly walks: Record<VerifiedTable, Walk>;
  readonly count: Record<VerifiedTable, () => number>;
} {
  const { rows, ids } = openAnimalTables(folder);
  const { keys, hashes } = openKeyTables(folder);
  const { reservations, expiries, callers } = openReservationTables(folder);
  const counter = openCounter(folder, 'lastAnimalId');
  const keyCounter = openCounter(folder, 'lastKeyNumber');

  const index =
    (status: PetStatus): Walk =>
    (at, fault) => {
      for (const id of ids[status].getKeys()) {
        const animal = rows.get(id);
        // A damaged record has been named before.
        if (animal !== null && animal?.status !== status)
          fault(`it names animal ${id}, which is not ${status}`);
        at(`animal ${id}`);
      }
    };
  const walks: Record<VerifiedTable, Walk> = {
    animals(at, fault) {
      let last = 0;
      for (const { key, value } of rows.getRange()) {
        if (value?.id !== key) fault(`the record of animal ${key} is not what was stored`);
        else if (value.status !== undefined && !ids[value.status].doesExist(key)) {
          fault(`animal ${key} is not in the index of ${value.status}`);
        }
        last = key;
        at(`animal ${key}`);
      }
      if (last > counter.last()) fault(`the counter of ids (${counter.last()}) is behind animal ${last}`);
    },
    'animals.available': index('available'),
    'animals.pending': index('pending'),
    'animals.sold': index('sold'),
    keys(at, fault) {
      let last = 0;
      for (const { key, value } of keys.getRange()) {
        // Copied: what lmdb returns is valid until its next read.
        const hash = Buffer.from(key).toString();
        if (value?.record.hash !== hash) fault('the record of an API key is not what was stored');
        else {
          const { number, record } = value;
          last = Math.max(last, number);
          const named = hashes.get(Buffer.from(record.name));
          // A damaged entry is reported for its own table.
          if (named !== null && named !== hash) {
            fault(`the API key ${JSON.stringify(record.name)} is not in the index of names`);
          }
        }
        at('an API key');
      }
      if (last > keyCounter.last()) {
        fault(`the counter of API keys (${keyCounter.last()}) is behind number ${last}`);
      }
    },
    'keys.hashes'(at, fault) {
      for (const { key, value } of hashes.getRange()) {
        const name = JSON.stringify(Buffer.from(key).toString());
        if (value === null || value === undefined)
          fault(`the entry of the API key ${name} is not what was stored`);
        else if (keys.get(Buffer.from(value)) === undefined) fault(`the API key ${name} has no record`);
        at(`the API key ${name}`);
      }
    },
    reservations(at, fault) {
      for (const { key, value } of reservations.getRange()) {
        const digest = Buffer.from(key);
        if (value === null) fault('the record of an idempotency key is not what was stored');
        else {
          const { animalId, expiresAt } = value;
          if (!rows.doesExist(animalId))
            fault(`an idempotency key names animal ${animalId}, which has no record`);
          if (!expiries.doesExist(expiryEntry(expiresAt, digest))) {
            fault(`the idempotency key of animal ${animalId} is not in the index of expiry times`);
          }
        }
        at('an idempotency key');
      }
    },
    'reservations.expiries'(at, fault) {
      const now = Date.now();
      for (const key of expiries.getKeys()) {
        const entry = Buffer.from(key);
        const expiresAt = entry.readDoubleBE();
        const reservation = reservations.get(entry.subarray(8));
        // One that has expired may be left over: the sweep removes a few at a time, and a key that is used again after it
        // expired gets a second entry.
        if (expiresAt > now && reservation !== null && !((reservation?.expiresAt ?? 0) >= expiresAt)) {
          fault(`the entry that expires at ${new Date(expiresAt).toISOString()} has no idempotency key`);
        }
        at('an idempotency key');
      }
    },
    'reservations.callers'(at, fault) {
      for (const { value } of callers.getRange()) {
        if (value === null) fault('the record of the idempotency keys of a caller is not what was stored');
        at('the idempotency keys of a caller');
      }
    },
  };
  return {
    walks,
    count: {
      animals: () => rows.getCount(),
      'animals.available': () => ids.available.getCount(),
      'animals.pending': () => ids.pending.getCount(),
      'animals.sold': () => ids.sold.getCount(),
      keys: () => keys.getCount(),
      'keys.hashes': () => hashes.getCount(),
      reservations: () => reservations.getCount(),
      'reservations.expiries': () => expiries.getCount(),
      'reservations.callers': () => callers.getCount(),
    },
  };
}
