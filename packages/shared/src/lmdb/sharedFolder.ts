import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** A folder that processes share cannot be used. Its message is for operators, and says what to do. */
export class FolderError extends Error {
  override readonly name = 'FolderError';
}

/** Room for a thousand readers, at 64 bytes each. */
const lockFileBytes = 65_536;

/** What LMDB and this package create in a folder. */
const ownNames = /\.mdb(?:-lock)?$|^\.new-/;

/** Creates a folder and its missing parents, durably and with access for this user only. */
export function makeFolder(path: string): void {
  // Not with `recursive`: below a folder that allows no new entries, such as /proc, it retries forever (Node 22).
  const missing: string[] = [];
  for (let each = resolve(path); !fs.statSync(each, { throwIfNoEntry: false }); each = dirname(each))
    missing.unshift(each);
  for (const each of missing) {
    try {
      fs.mkdirSync(each, { mode: 0o700 });
    } catch (error) {
      // Another process may have created it.
      if (!hasEntry(each)) throw error;
    }
    // An entry is durable when its parent folder is synced. Without this, a power cut could remove acknowledged data.
    syncFolder(dirname(each));
  }
}

/**
 * Rejects a folder in which other users can create files. A folder of another user, such as a Kubernetes volume with
 * `fsGroup`, may be writable by its group, because this user may depend on that.
 * @param isOwn whether a name in it is one of the service, such as a file of LMDB, which is the default. If all are, the
 *   message suggests a mode: a new one would lock out others that use the folder, such as /tmp
 * @throws {FolderError} if other users can write to it
 */
export function rejectWritableByOthers(path: string, isOwn = (name: string) => ownNames.test(name)): void {
  if (process.platform === 'win32') return;
  const { mode, uid } = fs.statSync(path);
  if ((mode & (uid === process.getuid?.() ? 0o022 : 0o002)) === 0) return;
  const isUsedByOthers = (mode & 0o1000) !== 0 || !fs.readdirSync(path).every(isOwn);
  throw new FolderError(
    `Other users can write to the folder ${path} (mode ${(mode & 0o7777).toString(8)}): ${isUsedByOthers ? '' : `run chmod 700 ${path}, or `}choose a folder that only this user can write to.`,
  );
}

/** Prepares a folder and opens the files in it. @throws {FolderError} if the folder cannot be opened */
export function openInFolder<Opened>(path: string, open: () => Opened): Opened {
  try {
    makeFolder(path);
    rejectWritableByOthers(path);
    return open();
  } catch (error) {
    if (error instanceof FolderError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new FolderError(
      `The folder ${path} cannot be opened: ${why}. This process must be able to write to the folder and to the files in it.`,
      { cause: error },
    );
  }
}

/** Prepares an LMDB file and its lock file. @throws {FolderError} if one of them is not a regular file */
export function prepareFile(path: string): void {
  createLockFile(`${path}-lock`);
  if (hasEntry(path)) rejectLink(path);
  rejectLink(`${path}-lock`);
  // Readable by its owner only: lmdb before 3.5 has no option for the mode. LMDB takes an empty file for a new one.
  fs.writeFileSync(path, '', { flag: 'a', mode: 0o600 });
}

/**
 * Rejects all but regular files: LMDB follows links. Only the owner of the folder can create one after this check.
 * @throws {FolderError}
 */
export function rejectLink(path: string): void {
  const stats = fs.lstatSync(path);
  if (stats.isFile()) return;
  throw new FolderError(
    `${path} is ${stats.isSymbolicLink() ? 'a symbolic link' : 'not a file'}; it must be a regular file. Remove it, or choose another folder.`,
  );
}

/**
 * Creates a lock file of LMDB unless it exists, atomically, because other processes may open it at the same time. It is allocated
 * before LMDB maps it: on a full disk, a write to a hole would end the process (SIGBUS).
 */
export function createLockFile(path: string): void {
  if (fs.existsSync(path)) return;
  const folder = fs.mkdtempSync(join(dirname(path), '.new-'));
  try {
    const file = join(folder, 'lock');
    fs.writeFileSync(file, Buffer.alloc(lockFileBytes), { mode: 0o600, flush: true });
    fs.linkSync(file, path);
  } catch (error) {
    if (!hasEntry(path)) throw error;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes the entries of a folder durable. Windows does so itself. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

const hasEntry = (path: string): boolean => fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
