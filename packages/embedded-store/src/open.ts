import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { open as openLmdb, type RootDatabase, type RootDatabaseOptions } from 'lmdb';
import { type CollectionDefinition, StoreError, type StoreOptions } from '@petstore/core/store';
import { createLockFile, makeFolder, rejectLink, transactSync } from 'trpc-gateway-shared/lmdb';
import { findDamage } from './dataFile.ts';
import { createAtomically, rejectSharedFolder } from './dataFolder.ts';
import { damaged, toStoreError } from './errors.ts';
import type { DataFolder, Layout, MetaTable } from './folder.ts';
import { watchFolder } from './folderWatch.ts';
import { bringUpToDate, checkFormat, FORMAT, isUpToDate, rejectUnknown } from './layout.ts';
import { jsonRow } from './rows.ts';
import { KEY_COUNTER, openTable, put } from './table.ts';
import { waitForWriteLock } from './writeLock.ts';

/** How often dead readers are removed, in milliseconds. Their snapshots would keep pages from being reused, and the file grows. */
const READER_CHECK_MS = 60_000;

const FILE_NAMES = ['petstore.mdb', 'petstore.mdb-lock'] as const;

/** Maximum number of tables in the file: one per collection and per index, and eight internal ones. */
const MAX_TABLES = 128;

/** Options of the store. Before it migrates, stop all earlier versions: they do not maintain a new index. */
export interface EmbeddedStoreOptions extends StoreOptions {
  /** Data folder. Created with mode 0700 if it does not exist. */
  readonly dataDir: string;
  /**
   * Called once with a StoreError `fatal` when this process can no longer use the folder: LMDB reported a fatal error, or a
   * file of the folder was removed or replaced. This is detected on the next call, or within half a second without calls.
   * All later calls fail with that error, so log it and end the process. The callback must not throw: a timer may call it,
   * and its error would be an uncaught exception.
   */
  readonly onFatal?: ((error: StoreError) => void) | undefined;
}

/** Options of `openEmbeddedStore`. Without `collections` the folder is opened with any collections, and not changed. */
export type OpenFolderOptions = Partial<Omit<EmbeddedStoreOptions, 'dataDir' | 'maxReservations'>>;

/**
 * Opens the LMDB file of a data folder. With `create`, it creates the missing folder and file. Any number of processes of
 * one machine may do so concurrently. Not for network file systems or across PID namespaces: LMDB's locks do not work there.
 * @throws {StoreError}
 */
export const openDataFolder = (path: string, options: OpenFolderOptions): Promise<DataFolder> =>
  open(path, options).catch((error: unknown) => {
    throw toStoreError(error, path);
  });

async function open(
  path: string,
  { create = true, collections, migrate = true, onMigrated, onFatal }: OpenFolderOptions,
): Promise<DataFolder> {
  const file = join(path, FILE_NAMES[0]);
  if (create) makeFolder(path);
  else await access(file).catch((error: NodeJS.ErrnoException) => rejectMissing(error, path));
  rejectSharedFolder(path);
  createLockFile(`${file}-lock`);
  // Files are created atomically, so an empty or incomplete one is damaged, not unfinished.
  await createAtomically(file, (temporary) => writeNewFile(temporary, collections ?? []));
  for (const name of FILE_NAMES) rejectLink(join(path, name));
  await access(file, constants.R_OK | constants.W_OK);
  const damage = await findDamage(file);
  if (damage !== undefined) throw damaged(path, `petstore.mdb: ${damage}`);

  await waitForWriteLock(path, await realpath(`${file}-lock`));
  // Starts before lmdb opens the files, so that any replacement from here on is detected.
  const watch = watchFolder(path, FILE_NAMES, onFatal);
  let root: RootDatabase | undefined;
  try {
    const opened = openDataFile(file);
    root = opened;
    const meta = openMeta(opened);
    const folder = { path, file, root: opened, meta };
    checkFormat(folder);
    if (collections !== undefined) {
      rejectUnknown(folder, collections);
      if (!isUpToDate(folder, collections)) {
        if (!migrate) {
          throw new StoreError(
            'migration-needed',
            `The data in ${path} was created by an earlier version. Start the service, which migrates it.`,
          );
        }
        for (const what of bringUpToDate(folder, collections)) onMigrated?.(what);
      }
    }
    // lmdb checks readers only once, when it opens the file.
    const readerCheck = setInterval(() => opened.readerCheck(), READER_CHECK_MS).unref();
    return {
      path,
      file,
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
  const options: DataFileOptions = {
    path: file,
    noSubdir: true,
    maxDbs: MAX_TABLES,
    permissionsMode: 0o600,
    encoding: 'binary',
    /*
     * Durability depends on this option. With neither `overlappingSync` (lmdb's default) nor `noSync`, LMDB's own commit
     * runs: it writes the pages, calls fdatasync, then writes the meta page through a descriptor opened with O_DSYNC. Only
     * then does the transaction's promise resolve and does the data become visible. With `overlappingSync` the data is
     * visible before it is on disk, and after a power cut lmdb-js's own recovery has to select the right snapshot. It is
     * not faster with group commit: 50,000 against 51,000 creates/s with 16 concurrent callers, 193,000 against 202,000 with
     * 256.
     */
    overlappingSync: false,
    // Useless with one transaction at a time, and in lmdb 3.5.6 a failed commit then rejects an internal promise: an
    // unhandled rejection, which ends the process.
    eventTurnBatching: false,
  };
  const root = openLmdb(options);
  // What opening sets for all processes is read before: other processes may have committed since.
  transactSync(root, file, () => {});
  return root;
}

/** lmdb 3.5.6 supports `permissionsMode`, but its declarations lack it. */
type DataFileOptions = RootDatabaseOptions & { path: string; permissionsMode: number };

const openMeta = (root: RootDatabase): MetaTable =>
  openTable(root, 'meta', { encoder: jsonRow<number | Layout>() });

async function writeNewFile(path: string, collections: readonly CollectionDefinition[]): Promise<void> {
  createLockFile(`${path}-lock`);
  const root = openDataFile(path);
  try {
    const meta = openMeta(root);
    root.transactionSync(() => {
      put(meta, 'format', FORMAT);
      put(meta, KEY_COUNTER, 0);
      put(meta, 'layout', {});
    });
    bringUpToDate({ path, file: path, root, meta }, collections);
  } finally {
    await root.close();
  }
}
