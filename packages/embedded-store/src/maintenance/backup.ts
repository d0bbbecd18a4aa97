import { chmod, mkdtemp, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { singular, StoreError } from '@petstore/core/store';
import { makeFolder, syncFolder } from 'trpc-gateway-shared/lmdb';
import { MIN_FREE_BYTES, toStoreError } from '../errors.ts';
import { openKeys } from '../keys.ts';
import { layoutOf } from '../layout.ts';
import { openDataFolder } from '../open.ts';
import { openTable } from '../table.ts';

export interface BackupOptions {
  /** The data folder. Processes may use it during the backup. */
  readonly dataDir: string;
  /** Folder of the backup. It must be empty or not exist. */
  readonly to: string;
}

export interface Backup {
  /** All collections of the folder, including those that this version does not know. */
  readonly collections: readonly {
    readonly name: string;
    readonly recordName: string;
    readonly records: number;
  }[];
  readonly keys: number;
  readonly bytes: number;
}

/**
 * Copies a snapshot of a data folder, even while processes use it. The copy contains everything that was acknowledged
 * before the call, and is itself a data folder. It appears complete and durable, or not at all. Writers wait for a few
 * microseconds.
 * @throws {StoreError} `conflict` if `to` is not empty or lies in the data folder
 */
export async function backupFolder({ dataDir: from, to }: BackupOptions): Promise<Backup> {
  const dataDir = resolve(from);
  const target = resolve(to);
  try {
    rejectInside(dataDir, target);
    await rejectUsed(target);
    makeFolder(dirname(target));
    // A sibling of the target, because a rename works only within one file system.
    const temporary = await mkdtemp(join(dirname(target), `.${basename(target)}.new-`));
    try {
      await copySnapshot(dataDir, join(temporary, 'petstore.mdb'));
      const backup = await readBackup(temporary);
      syncFolder(temporary);
      await rename(temporary, target);
      syncFolder(dirname(target));
      return backup;
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  } catch (error) {
    throw toTargetError(error, target);
  }
}

/** Rejects a target inside the data folder: losing the folder would lose the backup. */
function rejectInside(dataDir: string, target: string): void {
  if (!`${target}/`.startsWith(`${dataDir}/`)) return;
  throw new StoreError(
    'conflict',
    `The backup folder ${target} is inside the data folder ${dataDir}. Choose a folder outside it.`,
  );
}

/** Maps errors of the target folder. Errors of the data folder are StoreErrors already. */
function toTargetError(error: unknown, target: string): StoreError {
  if (error instanceof StoreError) return error;
  const { code } = toStoreError(error, target);
  return new StoreError(
    code,
    `The backup folder ${target} cannot be created (${error instanceof Error ? error.message : String(error)}). Choose a folder that this user can write to.`,
    { cause: error },
  );
}

async function rejectUsed(target: string): Promise<void> {
  const entries = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (entries.length === 0) return;
  throw new StoreError(
    'conflict',
    `The backup folder ${target} is not empty. Choose a new or an empty folder.`,
  );
}

async function copySnapshot(dataDir: string, file: string): Promise<void> {
  const folder = await openDataFolder(dataDir, { create: false });
  try {
    // Not compacted: LMDB would walk every page, and a damaged one would end the process.
    await folder.root.backup(file, false).catch(async (error: unknown) => {
      throw await toBackupError(error, dirname(dirname(file)));
    });
  } finally {
    await folder.close();
  }
  await chmod(file, 0o600);
  const copy = await open(file, 'r');
  try {
    await copy.sync();
  } finally {
    await copy.close();
  }
}

/** Detects a full disk by its free space: errors of a failed copy have no code in lmdb 3.5.6. */
async function toBackupError(error: unknown, folder: string): Promise<unknown> {
  const disk = await statfs(folder);
  if (disk.bavail * disk.bsize >= MIN_FREE_BYTES) return error;
  return new StoreError(
    'full',
    `The disk of ${folder} is full and no backup was made. Free some space, or choose another disk.`,
    { cause: error },
  );
}

/** Opens the copy and counts its entries. It does not migrate the copy. */
async function readBackup(path: string): Promise<Backup> {
  const folder = await openDataFolder(path, { create: false });
  try {
    const { size } = await stat(join(path, 'petstore.mdb'));
    const collections = Object.keys(layoutOf(folder)).map((name) => ({
      name,
      recordName: singular(name),
      records: openTable(folder.root, name, { encoding: 'binary', keyEncoding: 'binary' }).getCount(),
    }));
    return { collections, keys: openKeys(folder).list().length, bytes: size };
  } finally {
    await folder.close();
    // The lock file is valid only for the processes of one machine.
    await rm(join(path, 'petstore.mdb-lock'));
  }
}
