import { existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Makes the folder and what it lies in where they are missing, for this user only. */
export async function makeFolder(path: string): Promise<void> {
  // Not `mkdir` with `recursive`: where a folder that is there lets nobody make one (/proc), it tries for ever (Node 22).
  const missing: string[] = [];
  for (let each = resolve(path); await isMissing(each); each = dirname(each)) missing.unshift(each);
  for (const each of missing) {
    await mkdir(each, { mode: 0o700 }).catch(unlessThere);
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

/** Another process may have made it at the same time. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/**
 * Makes a file that appears under its name complete or not at all, unless there is one. Of several processes that try
 * at once one succeeds, and all go on with its file.
 * @param write makes the file under another name
 */
export async function publish(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
  if (existsSync(path)) return;
  const folder = await mkdtemp(join(dirname(path), '.new-'));
  try {
    const temporary = join(folder, 'file.mdb');
    await write(temporary);
    await link(temporary, path).catch(unlessThere);
    await syncFolder(dirname(path));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
