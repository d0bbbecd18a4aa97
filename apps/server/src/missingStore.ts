import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Configuration } from './configuration.ts';

/** Says that the data folder is gone, where it is: a worker that took its place would serve a new, empty store. */
export function missingStore({ DATA_DIR, MONGODB_URI }: Configuration): string | undefined {
  const file = resolve(DATA_DIR, 'petstore.mdb');
  try {
    // Unlike `existsSync`, it throws where the file cannot be looked at (EACCES, EIO): it may still be there.
    if (MONGODB_URI !== undefined || statSync(file, { throwIfNoEntry: false })) return undefined;
  } catch {
    return undefined;
  }
  return `${file} was removed while the service ran: put the data folder back or restore it, and start again.`;
}
