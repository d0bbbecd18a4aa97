import { constants, existsSync } from 'node:fs';
import { access, link, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { rejectWritableByOthers, syncFolder } from 'trpc-gateway-shared/lmdb';
import { toStoreError } from './errors.ts';

/** Names in a data folder. The service of the pet store keeps its limits there. */
const isOwn = (name: string) => /^(?:petstore\.mdb|\.new-|limits$)/.test(name);

/** @throws {FolderError} if other users can create files in it */
export const rejectSharedFolder = (path: string): void => rejectWritableByOthers(path, isOwn);

/** Rejects an existing folder in which no store can be created. @throws {StoreError} as opening would */
export async function checkFolder(path: string): Promise<void> {
  try {
    rejectSharedFolder(path);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw toStoreError(error, path);
  }
}

/** Creates a file atomically unless it exists: of several processes, one succeeds. @param write under a temporary name */
export async function createAtomically(
  path: string,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  if (existsSync(path)) return;
  const folder = await mkdtemp(join(dirname(path), '.new-'));
  try {
    const temporary = join(folder, 'file.mdb');
    await write(temporary);
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    syncFolder(dirname(path));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
