import { createHash } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type State, takeTokens } from '@petstore/gateway';
import { type Database, open, type RootDatabase, type RootDatabaseOptions } from 'lmdb';
import { StartError } from '../signals/startError.ts';

export interface FolderStateOptions {
  /** A folder of its own, on a local disk. It is created with mode 0700 where there is none. */
  readonly path: string;
}

/** State that the processes of one machine share. */
export interface FolderState extends State {
  /** Waits for what is being stored, and closes the files. */
  close(): Promise<void>;
}

interface Row {
  readonly value: string;
  readonly expiresAt: number;
}

/** How many expired values one new one clears away: more than one, so that none are left in the end. */
const swept = 4;

/** Times in buckets count from here (2026-01-01, UTC): a double has more decimals for a smaller number. */
const epoch = 1_767_225_600_000;

/** What lmdb 3.5.6 takes, where its declarations lack it. */
type Options = RootDatabaseOptions & { path: string; permissionsMode: number };

/**
 * State in a folder (LMDB), which the processes of one machine share. A value is on disk when `add` and `set` resolve.
 * Buckets are not: they survive their processes, and a power cut empties none for longer than its window.
 *
 * `take` is one transaction, at once: 9 µs on a busy machine (LMDB 3.5.6). A process that is stopped (SIGSTOP) in the middle of
 * one stops the others too.
 * @throws {StartError} where the folder cannot be opened
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

/** @throws {StartError} where it cannot be opened */
function openFolder(path: string) {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return { values: openValues(join(path, 'values.mdb')), buckets: openBuckets(join(path, 'buckets.mdb')) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `The state folder ${path} cannot be opened: ${why}. It must be a folder that this process may write, with the files in it.`,
      { cause: error },
    );
  }
}

function openFile(path: string, options: Partial<Options>): RootDatabase<Buffer, Uint8Array> {
  const file: Options = {
    path,
    noSubdir: true,
    permissionsMode: 0o600,
    encoding: 'binary',
    keyEncoding: 'binary',
    // In lmdb 3.5.6 a commit that fails would reject a promise that nobody holds.
    eventTurnBatching: false,
    ...options,
  };
  return open<Buffer, Uint8Array>(file);
}

function openValues(path: string) {
  // Without it a promise resolves when the commit is on disk.
  const root = openFile(path, { overlappingSync: false, maxDbs: 2 });
  const { ino } = statSync(path);
  const rows: Database<Row, Uint8Array> = root.openDB('values', { encoding: 'json', keyEncoding: 'binary' });
  // By when they expire: what is to be cleared away stands first.
  const expiries: Database<Buffer, Uint8Array> = root.openDB('expiries', {
    encoding: 'binary',
    keyEncoding: 'binary',
  });

  /** Inside a write transaction. */
  function put(digest: Uint8Array, value: string, ttlMs: number): void {
    const now = Date.now();
    // Copied: what lmdb hands out lives until its next read.
    for (const key of Array.from(expiries.getKeys({ end: numberBytes(now), limit: swept }), copied)) {
      expiries.removeSync(key);
      const expired = key.subarray(8);
      // Not one that was stored again.
      if ((rows.get(expired)?.expiresAt ?? 0) <= now) rows.removeSync(expired);
    }
    const expiresAt = now + ttlMs;
    rows.putSync(digest, { value, expiresAt });
    expiries.putSync(Buffer.concat([numberBytes(expiresAt), digest]), nothing);
  }

  const state: Omit<State, 'take'> = {
    async add(key, value, ttlMs) {
      // A process that starts later does not see this file's keys: it would run them again.
      if (statSync(path, { throwIfNoEntry: false })?.ino !== ino) {
        throw new Error(`The file ${path} was removed or replaced. Restart all processes of the service.`);
      }
      const digest = digestOf(key);
      return root.transaction(() => {
        const row = rows.get(digest);
        if (row && row.expiresAt > Date.now()) return row.value;
        put(digest, value, ttlMs);
        return undefined;
      });
    },
    set(key, value, ttlMs) {
      return root.transaction(() => put(digestOf(key), value, ttlMs));
    },
    async delete(key) {
      await root.transaction(() => rows.removeSync(digestOf(key)));
    },
  };
  return { root, state };
}

function openBuckets(path: string) {
  // Nothing waits for the disk: the page cache outlives the process.
  const root = openFile(path, { noSync: true });
  /** Where the search for full buckets goes on, which are as good as none. */
  let sweepsFrom: Uint8Array = nothing;

  function sweep(now: number): void {
    const keys = Array.from(root.getKeys({ start: sweepsFrom, limit: swept }), copied);
    sweepsFrom = keys.length < swept ? nothing : (keys.at(-1) ?? nothing);
    for (const key of keys) if ((root.get(key)?.readDoubleBE(0) ?? 0) <= now) root.removeSync(key);
  }

  const take: State['take'] = (key, count, bucket) => {
    const digest = digestOf(key);
    return root.transactionSync(() => {
      const now = Date.now() - epoch;
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

const nothing = Buffer.alloc(0);

const copied = (bytes: Uint8Array): Buffer => Buffer.from(bytes);

/** LMDB takes no long keys, and a key may hold a credential. */
const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest();

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}
