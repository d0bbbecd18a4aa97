import { createHash } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type State, takeTokens } from '@petstore/gateway';
import { type Database, open, type RootDatabase, type RootDatabaseOptions } from 'lmdb';
import { StartError } from '../signals/startError.ts';
import { bucketEpoch } from './bucketEpoch.ts';

export interface FolderStateOptions {
  /** A dedicated folder on a local disk. It is created with mode 0700 if it does not exist. */
  readonly path: string;
}

/** State shared by the processes of one machine. */
export interface FolderState extends State {
  /** Waits for pending writes and closes the files. */
  close(): Promise<void>;
}

interface ValueRow {
  readonly value: string;
  readonly expiresAt: number;
}

/** How many expired entries each insert removes: more than one, so that expired entries cannot accumulate. */
const sweepLimit = 4;

/** Options of lmdb 3.5.6, including `permissionsMode`, which its declarations lack. */
type LmdbOptions = RootDatabaseOptions & { path: string; permissionsMode: number };

/**
 * Opens state in a folder (LMDB) that is shared by the processes of one machine. Values are on disk when `add` and `set`
 * resolve. Buckets survive the exit of their processes but not a power failure, which affects a limit for at most one window.
 *
 * `take` is one synchronous transaction: 9 µs on a busy machine (LMDB 3.5.6). A process that is suspended (SIGSTOP) during a
 * transaction blocks the others too.
 * @throws {StartError} if the folder cannot be opened
 */
export function folderState({ path }: FolderStateOptions): FolderState {
  const { values, buckets } = openFolder(resolve(path));
  return {
    ...values.state,
    take: buckets.take,
    async close() {
      await Promise.all([values.root.close(), buckets.root.close()]);
    },
  };
}

/** @throws {StartError} if the folder cannot be opened */
function openFolder(path: string) {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return { values: openValues(join(path, 'values.mdb')), buckets: openBuckets(join(path, 'buckets.mdb')) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `The state folder ${path} cannot be opened: ${why}. This process must be able to write to the folder and to the files in it.`,
      { cause: error },
    );
  }
}

function openLmdbFile(path: string, options: Partial<LmdbOptions>): RootDatabase<Buffer, Uint8Array> {
  const file: LmdbOptions = {
    path,
    noSubdir: true,
    permissionsMode: 0o600,
    encoding: 'binary',
    keyEncoding: 'binary',
    // With batching, a failed commit in lmdb 3.5.6 causes an unhandled rejection.
    eventTurnBatching: false,
    ...options,
  };
  return open<Buffer, Uint8Array>(file);
}

function openValues(path: string) {
  // Without `overlappingSync`, promises resolve when the commit is on disk.
  const root = openLmdbFile(path, { overlappingSync: false, maxDbs: 2 });
  const { ino } = statSync(path);
  const rows: Database<ValueRow, Uint8Array> = root.openDB('values', {
    encoding: 'json',
    keyEncoding: 'binary',
  });
  // Ordered by expiry: the entries to remove are first.
  const expiries: Database<Buffer, Uint8Array> = root.openDB('expiries', {
    encoding: 'binary',
    keyEncoding: 'binary',
  });

  /** Stores a value and removes expired ones. Must run inside a write transaction. */
  function put(digest: Uint8Array, value: string, ttlMs: number): void {
    const now = Date.now();
    // Copied: buffers from lmdb are valid until its next read only.
    for (const key of Array.from(expiries.getKeys({ end: numberBytes(now), limit: sweepLimit }), toBuffer)) {
      expiries.removeSync(key);
      const expired = key.subarray(8);
      // Keeps a value that was stored again with a later expiry.
      if ((rows.get(expired)?.expiresAt ?? 0) <= now) rows.removeSync(expired);
    }
    const expiresAt = now + ttlMs;
    rows.putSync(digest, { value, expiresAt });
    expiries.putSync(Buffer.concat([numberBytes(expiresAt), digest]), emptyBuffer);
  }

  const state: Omit<State, 'take'> = {
    async add(key, value, ttlMs) {
      // Processes that start later would not see the keys of this file, and would run their calls again.
      if (statSync(path, { throwIfNoEntry: false })?.ino !== ino) {
        throw new Error(`The file ${path} was removed or replaced. Restart all processes of the service.`);
      }
      const digest = hashStateKey(key);
      return root.transaction(() => {
        const row = rows.get(digest);
        if (row && row.expiresAt > Date.now()) return row.value;
        put(digest, value, ttlMs);
        return undefined;
      });
    },
    set(key, value, ttlMs) {
      return root.transaction(() => put(hashStateKey(key), value, ttlMs));
    },
    async delete(key) {
      await root.transaction(() => rows.removeSync(hashStateKey(key)));
    },
  };
  return { root, state };
}

function openBuckets(path: string) {
  // No sync: the page cache outlives the process.
  const root = openLmdbFile(path, { noSync: true });
  /** Where the next sweep continues. A sweep removes full buckets, which are equivalent to missing ones. */
  let sweepsFrom: Uint8Array = emptyBuffer;

  function sweep(now: number): void {
    const keys = Array.from(root.getKeys({ start: sweepsFrom, limit: sweepLimit }), toBuffer);
    sweepsFrom = keys.length < sweepLimit ? emptyBuffer : (keys.at(-1) ?? emptyBuffer);
    for (const key of keys) if ((root.get(key)?.readDoubleBE(0) ?? 0) <= now) root.removeSync(key);
  }

  const take: State['take'] = (key, count, bucket) => {
    const digest = hashStateKey(key);
    return root.transactionSync(() => {
      const now = Date.now() - bucketEpoch;
      const row = root.get(digest);
      const { fullAt, taken } = takeTokens(row?.readDoubleBE(0), count, bucket, now);
      if (!taken.isTaken || count === 0) return taken;
      if (row === undefined) sweep(now);
      root.putSync(digest, numberBytes(fullAt));
      return taken;
    });
  };
  return { root, take };
}

const emptyBuffer = Buffer.alloc(0);

const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes);

/** Hashes a key: LMDB limits the length of keys, and a key may contain a credential. */
const hashStateKey = (key: string): Buffer => createHash('sha256').update(key).digest();

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}
