import { type BigIntStats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreError } from '../storeError.ts';
import { replaced } from './errors.ts';

/** How often the files are looked for while nothing is written, in milliseconds. */
const CHECK_MS = 500;

/** Whether this process can still use a data folder. Once it cannot, it never can again. */
export interface FolderWatch {
  /** The fatal error that was found; `undefined` while there is none. */
  readonly fatal: () => StoreError | undefined;
  /** The same, after a look at whether the files that were opened are still the ones at their paths. Costs about 5 µs. */
  readonly check: () => StoreError | undefined;
  /** Takes note of an error if it is a fatal one. @returns the error */
  readonly recordFatal: (error: StoreError) => StoreError;
  readonly stop: () => void;
}

/**
 * Watches the files of a data folder. A process goes on reading and writing files that were removed or replaced, and
 * what it acknowledges then is gone with them.
 * @param onFatal called once, also by a timer: it must not throw
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
    // That it cannot be looked at (EACCES, EIO) does not say that it is another.
    return !(error instanceof Error && 'code' in error && error.code === 'ENOTDIR');
  }
}
