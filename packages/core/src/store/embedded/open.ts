import { constants } from 'node:fs';
import { access, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open as openLmdb, type RootDatabase, type RootDatabaseOptions } from 'lmdb';
import type { CollectionDefinition } from '../collection.ts';
import { StoreError } from '../storeError.ts';
import { KEY_COUNTER } from './counter.ts';
import { findDamage } from './dataFile.ts';
import { makeFolder, createAtomically, rejectLink, rejectSharedFolder } from './dataFolder.ts';
import { damaged } from './errors.ts';
import type { DataFolder, Layout, MetaTable } from './folder.ts';
import { watchFolder } from './folderWatch.ts';
import { bringUpToDate, FORMAT, formatOf, isUpToDate, rejectUnknown } from './migrations.ts';
import { jsonRow } from './rows.ts';
import { openTable, put } from './table.ts';
import { waitForWriteLock } from './writeLock.ts';

/** Room for a thousand readers: LMDB takes 64 bytes for each, and a process needs one or two. */
const LOCK_FILE_BYTES = 65_536;

/** A reader that died keeps its snapshot's pages from being used again, and the file grows. */
const READER_CHECK_MS = 60_000;

/** What a data folder holds. */
const FILE_NAMES = ['petstore.mdb', 'petstore.mdb-lock'] as const;

/** How many tables the file may have: one for each collection and each index, and eight of the store's own. */
const MAX_TABLES = 128;

export interface OpenFolderOptions {
  /** Whether a folder without a store gets one. */
  readonly create: boolean;
  /** What the code knows. Unset: the folder is opened as it is, whatever its collections. */
  readonly collections?: readonly CollectionDefinition[];
  /** Whether a folder of an earlier version is brought up to date. */
  readonly migrate?: boolean;
  /** Called with a sentence for each step that brought the folder up to date. */
  readonly onMigrated?: ((what: string) => void) | undefined;
  readonly onFatal?: ((error: StoreError) => void) | undefined;
}

/**
 * Opens the LMDB file of a data folder, and with `create` makes both where they are missing. Any number of processes of one machine
 * may do so at once. Never on a network file system or across PID namespaces: LMDB's locks do not hold there.
 */
export async function openDataFolder(
  path: string,
  { create, collections, migrate = false, onMigrated, onFatal }: OpenFolderOptions,
): Promise<DataFolder> {
  const file = join(path, FILE_NAMES[0]);
  if (create) await makeFolder(path);
  else await access(file).catch((error: NodeJS.ErrnoException) => rejectMissing(error, path));
  await rejectSharedFolder(path);
  await createAtomically(`${file}-lock`, writeLockFile);
  // The file appears complete, so one that is empty or half there is damaged, and not one that was being made.
  await createAtomically(file, (temporary) => writeNewFile(temporary, collections ?? []));
  for (const name of FILE_NAMES) await rejectLink(path, name);
  await access(file, constants.R_OK | constants.W_OK);
  const damage = await findDamage(file);
  if (damage !== undefined) throw damaged(path, `petstore.mdb: ${damage}`);

  await waitForWriteLock(path, await realpath(`${file}-lock`));
  // Before lmdb opens them: what takes their place from here on is noticed.
  const watch = watchFolder(path, FILE_NAMES, onFatal);
  let root: RootDatabase | undefined;
  try {
    const opened = openDataFile(file);
    root = opened;
    const meta = openMeta(opened);
    const folder = { path, root: opened, meta };
    formatOf(folder);
    if (collections !== undefined) {
      rejectUnknown(folder, collections);
      if (!isUpToDate(folder, collections)) {
        if (!migrate) {
          throw new StoreError(
            'migration-needed',
            `An earlier version made the data in ${path}: start the service, which brings it up to date.`,
          );
        }
        for (const what of bringUpToDate(folder, collections)) onMigrated?.(what);
      }
    }
    // lmdb itself checks once when it opens a file.
    const readerCheck = setInterval(() => opened.readerCheck(), READER_CHECK_MS).unref();
    return {
      path,
      root: opened,
      meta,
      watch,
      close() {
        watch.stop();
        clearInterval(readerCheck);
        return opened.close();
      },
    };
  } catch (error) {
    watch.stop();
    await root?.close();
    throw error;
  }
}

function rejectMissing(error: NodeJS.ErrnoException, path: string): never {
  throw error.code === 'ENOENT' ? new StoreError('unavailable', `There is no store at ${path}.`) : error;
}

function openDataFile(file: string): RootDatabase {
  const options: LmdbOptions = {
    path: file,
    noSubdir: true,
    maxDbs: MAX_TABLES,
    permissionsMode: 0o600,
    encoding: 'binary',
    /*
     * What "on disk" rests on: without `overlappingSync` (lmdb's default) and without `noSync`, LMDB's own commit runs:
     * write the pages, fdatasync, then write the meta page through a descriptor opened with O_DSYNC; only then does the
     * transaction's promise resolve, and only then does anybody see the data. With `overlappingSync` the data is seen
     * before it is on disk, and after a power cut lmdb-js's own recovery has to pick the right snapshot. It is no faster
     * where commits are grouped: 50,000 creates/s against 51,000/s at 16 at once, 193,000/s against 202,000/s at 256.
     */
    overlappingSync: false,
    // It would bring nothing where there is one transaction at a time, and in lmdb 3.5.6 a commit that fails rejects a
    // promise of its own that nobody holds: an unhandled rejection, which ends the process.
    eventTurnBatching: false,
  };
  return openLmdb(options);
}

/** What lmdb 3.5.6 takes, where its declarations lack it. */
type LmdbOptions = RootDatabaseOptions & { path: string; permissionsMode: number };

const openMeta = (root: RootDatabase): MetaTable =>
  openTable(root, 'meta', { encoder: jsonRow<number | Layout>() });

/** All its bytes, before LMDB maps it: on a full disk a write to a hole would end the process (SIGBUS). */
async function writeLockFile(path: string): Promise<void> {
  await writeFile(path, Buffer.alloc(LOCK_FILE_BYTES), { mode: 0o600, flush: true });
}

async function writeNewFile(path: string, collections: readonly CollectionDefinition[]): Promise<void> {
  await writeLockFile(`${path}-lock`);
  const root = openDataFile(path);
  try {
    const meta = openMeta(root);
    root.transactionSync(() => {
      put(meta, 'format', FORMAT);
      put(meta, KEY_COUNTER, 0);
      put(meta, 'layout', {});
    });
    bringUpToDate({ path, root, meta }, collections);
  } finally {
    await root.close();
  }
}
