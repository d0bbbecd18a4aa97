import { type BigIntStats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreError } from '@petstore/core/store';
import { replaced } from './errors.ts';

/** How often the files are checked while nothing is written, in milliseconds. */
const CHECK_MS = 500;

/** Detects when this process can no longer use a data folder. A fatal error is permanent. */
export interface FolderWatch {
  readonly fatal: () => StoreError | undefined;
  /** Checks that the open files are still at their paths, then returns the fatal error, or `undefined`. Takes about 5 µs. */
  readonly check: () => StoreError | undefined;
  /** Records an error if it is fatal. @returns the error */
  readonly recordFatal: (error: StoreError) => StoreError;
  /** Ends the periodic checks. */
  readonly stop: () => void;
}

/**
 * Watches the files of a data folder. A process can still read and write files that were removed or replaced, but the data
 * that it acknowledges is lost with them.
 * @param onFatal called once, possibly by a timer: it must not throw
 */
export function watchFolder(
  path: string,
  names: readonly string[],
  onFatal?: (error: StoreError) => void,
): FolderWatch {
  const files = names.map((name) => {
    const file = join(path, name);
    return { name, file, openedStats: statOf(file) };
  });
  let fatal: StoreError | undefined;

  function recordFatal(error: StoreError): StoreError {
    if (fatal === undefined && error.code === 'fatal') {
      fatal = error;
      onFatal?.(error);
    }
    return error;
  }

  function check(): StoreError | undefined {
    if (fatal !== undefined) return fatal;
    const missing = files.find(({ file, openedStats }) => !isSameFile(openedStats, file));
    if (missing !== undefined) recordFatal(replaced(path, missing.name));
    return fatal;
  }

  const timer = setInterval(check, CHECK_MS).unref();
  return { fatal: () => fatal, check, recordFatal, stop: () => clearInterval(timer) };
}

const statOf = (file: string): BigIntStats | undefined =>
  statSync(file, { bigint: true, throwIfNoEntry: false });

function isSameFile(openedStats: BigIntStats | undefined, file: string): boolean {
  try {
    const stats = statOf(file);
    return stats !== undefined && stats.dev === openedStats?.dev && stats.ino === openedStats.ino;
  } catch (error) {
    // A file that cannot be inspected (EACCES, EIO) is not necessarily another file.
    return !(error instanceof Error && 'code' in error && error.code === 'ENOTDIR');
  }
}
