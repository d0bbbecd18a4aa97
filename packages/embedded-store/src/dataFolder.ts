import { constants, existsSync } from 'node:fs';
import { access, link, lstat, mkdir, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StoreError } from '@petstore/core/store';
import { toStoreError } from './errors.ts';

/** Creates the folder and its missing parents, with access for this user only. */
export async function makeFolder(path: string): Promise<void> {
  // Not `mkdir` with `recursive`: below a folder that allows no new entries, such as /proc, it retries forever (Node 22).
  const missing: string[] = [];
  for (let each = resolve(path); await isMissing(each); each = dirname(each)) missing.unshift(each);
  for (const each of missing) {
    await mkdir(each, { mode: 0o700 }).catch(ignoreExisting);
    // An entry is durable when its parent folder is synced. Without this, a power cut could remove acknowledged data.
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
 * Rejects a folder in which other users can create files. A folder of another user, such as a Kubernetes volume with
 * `fsGroup`, may be writable by its group, because this user may depend on that.
 * @throws {StoreError} `forbidden`
 */
export async function rejectSharedFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const { mode, uid } = await stat(path);
  const others = uid === process.getuid?.() ? 0o022 : 0o002;
  if ((mode & others) === 0) return;
  // Do not suggest a new mode for a folder that others use, such as /tmp: it would lock them out.
  const isShared = (mode & 0o1000) !== 0 || !(await containsOnlyStore(path));
  throw new StoreError(
    'forbidden',
    `Other users can write to the data folder ${path} (mode ${(mode & 0o7777).toString(8)}): ${isShared ? '' : `run chmod 700 ${path}, or `}choose a folder that only this user can write to.`,
  );
}

const containsOnlyStore = (path: string) =>
  readdir(path).then(
    (names) => names.every((name) => /^(?:petstore\.mdb|\.new-|limits$)/.test(name)),
    () => false,
  );

/**
 * Rejects an existing folder in which a store cannot be created.
 * @throws {StoreError} the error that opening the store would throw
 */
export async function checkFolder(path: string): Promise<void> {
  await rejectSharedFolder(path);
  await access(path, constants.R_OK | constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw toStoreError(error, path);
  });
}

/**
 * Rejects a symbolic link, or anything else that is not a regular file. LMDB follows links and writes to their targets.
 * Only the owner of the folder can create one after this check: see `rejectSharedFolder`.
 * @throws {StoreError} `forbidden`
 */
export async function rejectLink(folder: string, name: string): Promise<void> {
  const stats = await lstat(join(folder, name));
  if (stats.isFile()) return;
  throw new StoreError(
    'forbidden',
    `${name} in the data folder ${folder} is ${stats.isSymbolicLink() ? 'a symbolic link' : 'not a file'}; it must be a regular file. Remove it, or choose the folder that holds the data.`,
  );
}

/** Ignores EEXIST: another process may have created the entry concurrently. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/**
 * Creates a file atomically unless it exists: it appears complete or not at all. If several processes do so concurrently,
 * one succeeds and all use its file.
 * @param write creates the file under a temporary name
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

/** Makes the entries of a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
