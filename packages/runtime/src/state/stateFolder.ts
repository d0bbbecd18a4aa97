import { linkSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartError } from '../signals/startError.ts';

/** Room for a thousand readers, at 64 bytes each. */
const lockFileBytes = 65_536;

/**
 * Creates the folder, and rejects one in which other users can create files. A folder of another user, such as a
 * Kubernetes volume with `fsGroup`, may be writable by its group.
 * @throws {StartError} for a folder that other users can write to
 */
function prepareFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (process.platform === 'win32') return;
  const { mode, uid } = statSync(path);
  if ((mode & (uid === process.getuid?.() ? 0o022 : 0o002)) === 0) return;
  throw new StartError(
    `Other users can write to the state folder ${path} (mode ${(mode & 0o7777).toString(8)}). Choose a folder that only this user can write to.`,
  );
}

/**
 * Prepares a folder and opens the files in it.
 * @throws {StartError} if the folder cannot be opened
 */
export function openInFolder<Opened>(path: string, open: () => Opened): Opened {
  try {
    prepareFolder(path);
    return open();
  } catch (error) {
    if (error instanceof StartError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(
      `The state folder ${path} cannot be opened: ${why}. This process must be able to write to the folder and to the files in it.`,
      { cause: error },
    );
  }
}

/**
 * Prepares an LMDB file and its lock file. It rejects symbolic links, which LMDB would follow and write to. It allocates
 * a new lock file before LMDB maps it: on a full disk, a write to a hole would end the process (SIGBUS).
 * @throws {StartError} if one of them is not a regular file
 */
export function prepareFile(path: string): void {
  const lock = `${path}-lock`;
  if (!hasEntry(lock)) createLockFile(lock);
  for (const each of [path, lock]) {
    if (!hasEntry(each)) continue;
    const stats = lstatSync(each);
    if (stats.isFile()) continue;
    throw new StartError(
      `${each} is ${stats.isSymbolicLink() ? 'a symbolic link' : 'not a file'}; it must be a regular file. Remove it.`,
    );
  }
  // Readable by its owner only: lmdb before 3.5 has no option for the mode. LMDB takes an empty file for a new one.
  writeFileSync(path, '', { flag: 'a', mode: 0o600 });
}

/** Creates the file atomically, because another process may open it at the same time. */
function createLockFile(lock: string): void {
  const folder = mkdtempSync(join(dirname(lock), '.new-'));
  try {
    const file = join(folder, 'lock');
    writeFileSync(file, Buffer.alloc(lockFileBytes), { mode: 0o600, flush: true });
    linkSync(file, lock);
  } catch (error) {
    if (!hasEntry(lock)) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const hasEntry = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
