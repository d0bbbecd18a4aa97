import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type State, takeTokens } from 'trpc-gateway';
import type { Database, RootDatabase } from 'lmdb';
import { bucketEpoch } from './bucketEpoch.ts';
import { createFileCommits } from '../lmdb/fileCommits.ts';
import { LmdbFile } from '../lmdb/lmdbFile.ts';
import { transactSync } from '../lmdb/newestCommit.ts';
import { openInFolder } from '../lmdb/sharedFolder.ts';

export interface FolderStateOptions {
  /** A dedicated folder on a local disk. It is created with mode 0700 if it does not exist. */
  readonly path: string;
}

/** State shared by the processes of one machine. */
export interface FolderState extends State {
  /** Waits for pending writes and closes the files. @throws if the writes do not end within 2 s: the disk hangs */
  close(): Promise<void>;
}

interface ValueRow {
  readonly value: string;
  readonly expiresAt: number;
}

/** How many expired entries each insert removes: more than one, so that expired entries cannot accumulate. */
const sweepLimit = 4;

/**
 * Opens state in a folder (LMDB) that is shared by the processes of one machine. Values are on disk when `add` and `set`
 * resolve. Buckets survive the exit of their processes but not a power failure, which affects a limit for at most one window.
 *
 * `take` is one synchronous transaction: 9 µs on a busy machine (LMDB 3.5.6). A process that is suspended (SIGSTOP) during a
 * transaction blocks the others too.
 * @throws {FolderError} if the folder cannot be opened
 */
export function folderState({ path }: FolderStateOptions): FolderState {
  const folder = resolve(path);
  const { values, buckets } = openInFolder(folder, () => ({
    values: openValues(join(folder, 'values.mdb')),
    buckets: openBuckets(join(folder, 'buckets.mdb')),
  }));
  return {
    ...values.state,
    take: buckets.take,
    async close() {
      await values.close();
      await buckets.file.close();
    },
  };
}

interface ValueTables {
  readonly root: RootDatabase<Buffer, Uint8Array>;
  readonly rows: Database<ValueRow, Uint8Array>;
  /** Ordered by expiry: the entries to remove are first. */
  readonly expiries: Database<Buffer, Uint8Array>;
}

function openValues(path: string) {
  // Without `overlappingSync`, promises resolve when the commit is on disk.
  const options = { overlappingSync: false, maxDbs: 2 };
  const file = new LmdbFile<ValueTables>(path, options, (root) => ({
    root,
    rows: root.openDB('values', { encoding: 'json', keyEncoding: 'binary' }),
    expiries: root.openDB('expiries', { encoding: 'binary', keyEncoding: 'binary' }),
  }));
  const { close, write } = createFileCommits(`The state in ${path}`, file);

  /** Stores a value and removes expired ones. Must run inside a write transaction. */
  function put({ expiries, rows }: ValueTables, digest: Uint8Array, value: string, ttlMs: number): void {
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
      file.rejectReplaced();
      const digest = hashStateKey(key);
      return write((tables) => {
        const row = tables.rows.get(digest);
        if (row && row.expiresAt > Date.now()) return row.value;
        put(tables, digest, value, ttlMs);
        return undefined;
      });
    },
    set(key, value, ttlMs) {
      const digest = hashStateKey(key);
      return write((tables) => put(tables, digest, value, ttlMs));
    },
    delete(key, value) {
      const digest = hashStateKey(key);
      return write(({ rows }) => {
        if (rows.get(digest)?.value === value) rows.removeSync(digest);
      });
    },
  };
  return { state, close };
}

function openBuckets(path: string) {
  // No sync: the page cache outlives the process.
  const file = new LmdbFile(path, { noSync: true }, (root) => root);
  /** Where the next sweep continues. A sweep removes full buckets, which are equivalent to missing ones. */
  let sweepsFrom: Uint8Array = emptyBuffer;

  function sweep(root: RootDatabase<Buffer, Uint8Array>, now: number): void {
    const keys = Array.from(root.getKeys({ start: sweepsFrom, limit: sweepLimit }), toBuffer);
    sweepsFrom = keys.length < sweepLimit ? emptyBuffer : (keys.at(-1) ?? emptyBuffer);
    for (const key of keys) if ((root.get(key)?.readDoubleBE(0) ?? 0) <= now) root.removeSync(key);
  }

  const take: State['take'] = (key, count, bucket) => {
    const digest = hashStateKey(key);
    try {
      const root = file.tables;
      // Not `transactSync`, which takes as long again: while a process opens the file, one call may be forgotten.
      return root.transactionSync(() => {
        const now = Date.now() - bucketEpoch;
        const row = root.get(digest);
        const { fullAt, taken } = takeTokens(row?.readDoubleBE(0), count, bucket, now);
        // Less than before, if the clock was set back: the bucket is empty, not blocked for the difference.
        const isKept = row === undefined || fullAt >= row.readDoubleBE(0);
        if ((!taken.isTaken || count === 0) && isKept) return taken;
        if (row === undefined) sweep(root, now);
        root.putSync(digest, numberBytes(fullAt));
        return taken;
      });
    } catch (error) {
      // The gateway calls `take` again after a second.
      try {
        transactSync(file.tables, path, () => {});
      } catch {
        void file.check();
      }
      throw error;
    }
  };
  return { file, take };
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
