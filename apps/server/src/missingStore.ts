import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Configuration } from './configuration.ts';

/** Returns a message if the data folder was removed: a replacement worker would serve a new, empty store. */
export function missingStore({ DATA_DIR, MONGODB_URI }: Configuration): string | undefined {
  const file = resolve(DATA_DIR, 'petstore.mdb');
  try {
    // Unlike `existsSync`, `statSync` throws if the file cannot be accessed (EACCES, EIO), in which case it may still exist.
    if (MONGODB_URI !== undefined || statSync(file, { throwIfNoEntry: false })) return undefined;
  } catch {
    return undefined;
  }
  return `${file} was removed while the service was running. Restore the data folder, and start again.`;
}
