import { existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Makes the folder and what it lies in where they are missing, for this user only. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  // An entry is on disk when the folder that holds it is: what is acknowledged later must be found after a power cut.
  for (let made = resolve(path); ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === resolve(first)) return;
  }
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
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
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
