import { isDeepStrictEqual } from 'node:util';
import { singular, type StoredRecord } from '../store/collection.ts';
import type { KeyRecord } from '../store/store.ts';
import { StoreError } from '../store/storeError.ts';
import {
  type CollectionTransfer,
  isSameKey,
  type StoredReservation,
  type StoreTransfer,
} from '../store/transfer.ts';
import { createRecordChecksum } from './recordChecksum.ts';

/** How many batches are on their way to the target while the next are read: more bring nothing on one machine. */
const PUTS_AT_ONCE = 4;

/** How many rows a batch has at most, and after how many bytes of them it ends: a name may have megabytes. */
const BATCH_ROWS = 1_000;
const BATCH_BYTES = 4_194_304;

export interface CopyProgress {
  readonly phase: 'copying' | 'verifying';
  /** The name of the collection. */
  readonly collection: string;
  /** Of `total` records. */
  readonly done: number;
  readonly total: number;
}

export interface CopyOptions {
  /** Called for every batch. */
  readonly onProgress?: (progress: CopyProgress) => void;
}

export interface CopiedCollection {
  readonly name: string;
  readonly recordName: string;
  /** How many records both stores have now. */
  readonly records: number;
  /** How many of them were not there before. */
  readonly put: number;
}

export interface CopyResult {
  readonly collections: readonly CopiedCollection[];
  readonly keys: number;
  /** How many idempotency keys that are good the target has. */
  readonly reservations: number;
  /** SHA-256 of all records, hexadecimal: the same of both stores. */
  readonly checksum: string;
}

/**
 * Copies every collection, API keys, the counters of ids and idempotency keys, and reads the target again to see that it
 * has the records and API keys of the source. What is there already is compared and left as it is, so a copy that was
 * interrupted is done again with the same call. Nothing else may write to either store meanwhile.
 * @throws {StoreError} `conflict` where the target has what the source has not; `damaged` where what was read back is
 * not what was written, or the source changed meanwhile; what the stores throw
 */
export async function copyStore(
  from: StoreTransfer,
  to: StoreTransfer,
  { onProgress = () => {} }: CopyOptions = {},
): Promise<CopyResult> {
  const pairs = pairCollections(from, to);
  // First what keeps a server that is started on half a copy from giving an id again, and from making a first key.
  for (const { source, target } of pairs) await target.raiseLastId(await source.lastId());
  const keys = await from.keys();
  await to.putKeys(keys);
  if (!hasSameKeys(sortByName(keys), sortByName(await to.keys()))) {
    throw new StoreError('conflict', 'The target has API keys that the source has not: choose an empty one.');
  }

  const checksum = createRecordChecksum();
  const collections: CopiedCollection[] = [];
  for (const { source, target } of pairs) {
    const { name, recordName } = source.definition;
    const { count, put } = await copyRecords(source, target, checksum, onProgress);
    if ((await source.count()) !== count) {
      throw new StoreError('damaged', 'The source changed while it was copied: stop its servers first.');
    }
    collections.push({ name, recordName, records: count, put });
  }
  const reservations = await copyReservations(from, to);
  const digest = checksum.digest();
  await verify(pairs, collections, digest, onProgress);
  return { collections, keys: keys.length, reservations, checksum: digest };
}

interface Pair {
  readonly source: CollectionTransfer;
  readonly target: CollectionTransfer;
}

/** @throws {StoreError} `conflict` where the target has no place for a collection of the source */
const pairCollections = (from: StoreTransfer, to: StoreTransfer): Pair[] =>
  from.collections.map((source) => {
    const { name } = source.definition;
    const target = to.collections.find(({ definition }) => definition.name === name);
    if (target !== undefined) return { source, target };
    throw new StoreError(
      'conflict',
      `The target has no collection "${name}": open both with the same collections.`,
    );
  });

/** Reads the target again. @throws {StoreError} `damaged` where it is not what the source is */
async function verify(
  pairs: readonly Pair[],
  copied: readonly CopiedCollection[],
  checksum: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  const targetChecksum = createRecordChecksum();
  const counts: string[] = [];
  let isComplete = true;
  for (const [index, { target }] of pairs.entries()) {
    const { name, records: total } = copied[index] ?? { name: '', records: 0 };
    let done = 0;
    for await (const page of pages(target)) {
      for (const record of page) targetChecksum.add(target.definition, record);
      done += page.length;
      onProgress({ phase: 'verifying', collection: name, done, total });
    }
    isComplete &&= done === total;
    counts.push(`${done} of ${total} ${name}`);
  }
  const digest = targetChecksum.digest();
  if (isComplete && digest === checksum) return;
  throw new StoreError(
    'damaged',
    `The copy is not what the source is: ${counts.join(', ')}, with checksum ${digest}, not ${checksum}.`,
  );
}

async function copyRecords(
  from: CollectionTransfer,
  to: CollectionTransfer,
  checksum: ReturnType<typeof createRecordChecksum>,
  onProgress: (progress: CopyProgress) => void,
): Promise<{ readonly count: number; readonly put: number }> {
  const { name } = from.definition;
  const total = await from.count();
  const existing = createRecordReader(to);
  const puts = new Set<Promise<void>>();
  let count = 0;
  let put = 0;
  for await (const page of pages(from)) {
    const missing: StoredRecord[] = [];
    for (const record of page) {
      checksum.add(from.definition, record);
      count += 1;
      // Awaited only where there is a page to read: this is done for every record.
      const existingRecord = existing.current() ?? (existing.ended() ? undefined : await existing.read());
      if (existingRecord === undefined || existingRecord.id > record.id) missing.push(record);
      else if (isDeepStrictEqual(existingRecord, record)) existing.next();
      else throw recordConflict(name, Math.min(existingRecord.id, record.id));
    }
    if (missing.length > 0) {
      put += missing.length;
      // One that fails stays, and is thrown below.
      const putting = to.put(missing).then(() => void puts.delete(putting));
      putting.catch(() => {});
      puts.add(putting);
    }
    if (puts.size >= PUTS_AT_ONCE) await Promise.race(puts);
    onProgress({ phase: 'copying', collection: name, done: count, total });
  }
  await Promise.all(puts);
  const extra = existing.current() ?? (existing.ended() ? undefined : await existing.read());
  if (extra !== undefined) throw recordConflict(name, extra.id);
  return { count, put };
}

/** After the records: a repeat that finds an idempotency key finds its record. @returns how many the target has */
async function copyReservations(from: StoreTransfer, to: StoreTransfer): Promise<number> {
  for await (const page of reservationPages(from)) await to.putReservations(page);
  let count = 0;
  for await (const page of reservationPages(to)) count += page.length;
  return count;
}

async function* reservationPages(store: StoreTransfer): AsyncGenerator<StoredReservation[]> {
  for (let after = ''; ;) {
    const page = await store.reservations(after, BATCH_ROWS);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.digest;
  }
}

const recordConflict = (collection: string, id: number) =>
  new StoreError(
    'conflict',
    `The target has another ${singular(collection)} ${id} than the source: choose an empty one.`,
  );

const sortByName = (records: readonly KeyRecord[]): KeyRecord[] =>
  records.toSorted((one, other) => (one.name < other.name ? -1 : 1));

/** Whether the target has all keys and no others, and none of them is good that is revoked in the source. */
const hasSameKeys = (source: readonly KeyRecord[], target: readonly KeyRecord[]): boolean =>
  source.length === target.length &&
  source.every((key, index) => {
    const copied = target[index];
    return isSameKey(key, copied) && (key.revokedAt === undefined || copied?.revokedAt !== undefined);
  });

/** All records in ascending order of id. */
async function* pages(collection: CollectionTransfer): AsyncGenerator<StoredRecord[]> {
  for (let after = 0; ;) {
    const page = await collection.records(after, BATCH_ROWS, BATCH_BYTES);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.id;
  }
}

/** The records of a collection one by one. A page is read when those before are passed, and none after the last. */
function createRecordReader(collection: CollectionTransfer) {
  const reading = pages(collection);
  let page: readonly StoredRecord[] = [];
  let index = 0;
  let ended = false;
  return {
    /** `undefined` where a page must be read first, or none is left. */
    current: (): StoredRecord | undefined => page[index],
    ended: () => ended,
    next(): void {
      index++;
    },
    async read(): Promise<StoredRecord | undefined> {
      const { value, done } = await reading.next();
      if (done === true) ended = true;
      page = done === true ? [] : value;
      index = 0;
      return page[index];
    },
  };
}
