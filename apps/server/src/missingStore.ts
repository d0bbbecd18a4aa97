import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Configuration } from './configuration.ts';

/** Says that the data folder is gone, where it is: a worker that took its place would serve a new, empty store. */
export function missingStore({ DATA_DIR, MONGODB_URI }: Configuration): string | undefined {
  const file = resolve(DATA_DIR, 'petstore.mdb');
  return MONGODB_URI !== undefined || exists(file)
    ? undefined
    : `${file} was removed while the service ran: put the data folder back or restore it, and start again.`;
}

/** Unlike `existsSync`, true where the file cannot be looked at (EACCES, EIO): that does not say that it was removed. */
function exists(file: string): boolean {
  try {
    // `undefined` for ENOENT and ENOTDIR.
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
