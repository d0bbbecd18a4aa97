import { constants, existsSync } from 'node:fs';
import { access, link, lstat, mkdir, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StoreError } from '../storeError.ts';
import { toStoreError } from './errors.ts';

/** Makes the folder and what it lies in where they are missing, for this user only. */
export async function makeFolder(path: string): Promise<void> {
  // Not `mkdir` with `recursive`: where a folder that is there lets nobody make one (/proc), it tries for ever (Node 22).
  const missing: string[] = [];
  for (let each = resolve(path); await isMissing(each); each = dirname(each)) missing.unshift(each);
  for (const each of missing) {
    await mkdir(each, { mode: 0o700 }).catch(ignoreExisting);
    // An entry is on disk when the folder that holds it is: what is acknowledged later must be found after a power cut.
    await syncFolder(dirname(each));
  }
}

const isMissing = (path: string) =>
  stat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return true;
      throw error;
    },
  );

/**
 * Rejects a folder in which other users could put files of their own. A folder that belongs to another user, such as a
 * Kubernetes volume with `fsGroup`, may be writable by its group: that may be how this user can write to it at all.
 */
export async function rejectSharedFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const { mode, uid } = await stat(path);
  const others = uid === process.getuid?.() ? 0o022 : 0o002;
  if ((mode & others) === 0) return;
  // Of a folder that others use, such as /tmp, a new mode would lock them out.
  const isShared = (mode & 0o1000) !== 0 || !(await containsOnlyStore(path));
  throw new StoreError(
    'forbidden',
    `Other users may write to the data folder ${path} (mode ${(mode & 0o7777).toString(8)}): ${isShared ? '' : `run chmod 700 ${path}, or `}choose a folder that only this user may write to.`,
  );
}

const containsOnlyStore = (path: string) =>
  readdir(path).then(
    (names) => names.every((name) => /^(?:petstore\.mdb|\.new-|limits$)/.test(name)),
    () => false,
  );

/**
 * Rejects an existing folder without a store in which a start could not make one.
 * @throws {StoreError} what the start would throw
 */
export async function checkFolder(path: string): Promise<void> {
  await rejectSharedFolder(path);
  await access(path, constants.R_OK | constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw toStoreError(error, path);
  });
}

/**
 * Rejects a symbolic link, or anything else that is no file. LMDB follows links and writes to what they name. Only the
 * folder's own user could put one there after this look: see `rejectSharedFolder`.
 */
export async function rejectLink(folder: string, name: string): Promise<void> {
  const stats = await lstat(join(folder, name));
  if (stats.isFile()) return;
  throw new StoreError(
    'forbidden',
    `${name} in the data folder ${folder} is ${stats.isSymbolicLink() ? 'a symbolic link' : 'not a file'}: a regular file is expected. Remove it, or name the folder that holds the data.`,
  );
}

/** Another process may have made it at the same time. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/**
 * Makes a file that appears under its name complete or not at all, unless there is one. Of several processes that try
 * at once one succeeds, and all go on with its file.
 * @param write makes the file under another name
 */
export async function createAtomically(
  path: string,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  if (existsSync(path)) return;
  const folder = await mkdtemp(join(dirname(path), '.new-'));
  try {
    const temporary = join(folder, 'file.mdb');
    await write(temporary);
    await link(temporary, path).catch(ignoreExisting);
    await syncFolder(dirname(path));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Puts the entries of a folder on disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
