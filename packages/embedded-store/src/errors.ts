import { statfs } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { StoreError, type StoreErrorCode } from '@petstore/core/store';
import { FolderError } from 'trpc-gateway-shared/lmdb';

interface ErrorKind {
  readonly code: StoreErrorCode;
  readonly sentence: (dataDir: string, why: string) => string;
}

const forbidden: ErrorKind = {
  code: 'forbidden',
  sentence: (dataDir, why) =>
    `This user cannot read and write the data folder ${dataDir} (${why}). Grant access, or choose another folder.`,
};
const full: ErrorKind = {
  code: 'full',
  sentence: (dataDir, why) =>
    `The disk of the data folder ${dataDir} is full (${why}) and nothing was stored. Free some space. A running service needs no restart.`,
};
const damage: ErrorKind = {
  code: 'damaged',
  sentence: (dataDir, why) =>
    `The data in ${dataDir} is damaged: ${why}. Restore the folder from a backup, or choose another folder.`,
};
const notDirectory: ErrorKind = {
  code: 'unavailable',
  sentence: (dataDir) =>
    `The data folder ${dataDir} cannot be used: it, or one of its parents, is a file. Choose another folder.`,
};
const fatal: ErrorKind = {
  code: 'fatal',
  sentence: (dataDir) =>
    `LMDB reported a fatal error in the data folder ${dataDir}, so this process can no longer use it. Check the disk, and restart the process.`,
};
const unknownError: ErrorKind = {
  code: 'unavailable',
  sentence: (dataDir, why) => `The data folder ${dataDir} cannot be used: ${why}.`,
};

/** Kinds of errors by the name that the system or LMDB uses. */
const ERROR_KINDS: Readonly<Record<string, ErrorKind>> = {
  EACCES: forbidden,
  EPERM: forbidden,
  EROFS: forbidden,
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: full,
  MDB_MAP_FULL: full,
  ENOTDIR: notDirectory,
  EEXIST: notDirectory,
  MDB_PAGE_NOTFOUND: damage,
  MDB_CORRUPTED: damage,
  MDB_VERSION_MISMATCH: damage,
  MDB_INVALID: damage,
  MDB_INCOMPATIBLE: damage,
  MDB_PANIC: fatal,
};

/** Error codes of lmdb.h. */
const LMDB_ERRORS: Readonly<Record<number, string>> = {
  [-30797]: 'MDB_PAGE_NOTFOUND',
  [-30796]: 'MDB_CORRUPTED',
  [-30795]: 'MDB_PANIC',
  [-30794]: 'MDB_VERSION_MISMATCH',
  [-30793]: 'MDB_INVALID',
  [-30792]: 'MDB_MAP_FULL',
  [-30784]: 'MDB_INCOMPATIBLE',
};

/** With less free space, a failed write is reported as a full disk. */
export const MIN_FREE_BYTES = 1_048_576;

/** Error for stored data that differs from what was written. @param why a clause without a full stop */
export const damaged = (dataDir: string, why: string) =>
  new StoreError('damaged', damage.sentence(dataDir, why));

/** Error for an open file of the folder that was removed or replaced. */
export const replaced = (dataDir: string, file: string) =>
  new StoreError(
    'fatal',
    `${file} in the data folder ${dataDir} was removed or replaced while in use; later writes are lost. Stop every process that uses the folder, restore the file, and start again.`,
  );

/** Error of calls after `close`. */
export const closed = (dataDir: string) => new StoreError('closed', `The store in ${dataDir} was closed.`);

/** Maps an error of the file system or lmdb to a StoreError. */
export function toStoreError(error: unknown, dataDir: string): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof FolderError) return new StoreError('forbidden', error.message, { cause: error });
  const name = systemErrorName(error);
  const { code, sentence } = ERROR_KINDS[name] ?? unknownError;
  const message = error instanceof Error ? error.message : String(error);
  const why = name.startsWith('E') ? name : message;
  return new StoreError(code, sentence(dataDir, code === 'forbidden' ? why + fileOf(error, dataDir) : why), {
    cause: error,
  });
}

export function toReadError(error: unknown, dataDir: string): StoreError {
  // lmdb 3.5.6 loses the MDB_PANIC of a read transaction that cannot be renewed and reports EINVAL for the read instead.
  const isPanic = error instanceof Error && 'code' in error && error.code === constants.errno.EINVAL;
  return isPanic
    ? new StoreError('fatal', fatal.sentence(dataDir, ''), { cause: error })
    : toStoreError(error, dataDir);
}

/** Maps an error of a write transaction. */
export async function toCommitError(cause: unknown, dataDir: string): Promise<StoreError> {
  if (systemErrorName(cause) !== 'EIO') return toStoreError(cause, dataDir);
  // LMDB reports a partial write as EIO, so a full disk looks like this when it writes several pages at once.
  const disk = await statfs(dataDir).catch(() => undefined);
  if (disk !== undefined && disk.bavail * disk.bsize < MIN_FREE_BYTES) {
    return new StoreError(full.code, full.sentence(dataDir, 'EIO'), { cause });
  }
  return new StoreError(
    'outcome-unknown',
    `The disk of the data folder ${dataDir} failed during a write (EIO). Check the disk, and whether the write was stored.`,
    { cause },
  );
}

/** Returns the name of the data file that the error names, such as one that root created, to append to the reason. */
function fileOf(error: unknown, dataDir: string): string {
  const path = error instanceof Error && 'path' in error ? error.path : undefined;
  const isDataFile = typeof path === 'string' && path.startsWith(join(dataDir, 'petstore.'));
  return isDataFile ? `: ${basename(path)}` : '';
}

/** Returns an error's name. Node's errors have it as `code`; lmdb's have a number: an LMDB code or an errno. */
function systemErrorName(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return code;
  if (typeof code !== 'number') return '';
  return LMDB_ERRORS[code] ?? (code > 0 ? getSystemErrorName(-code) : '');
}
