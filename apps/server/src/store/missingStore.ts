import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Configuration } from '../configuration/configuration.ts';

const dataFile = ({ DATA_DIR }: Configuration) => resolve(DATA_DIR, 'petstore.mdb');

/** Returns true if the data folder has no store. Always false with a database. */
export function isStoreMissing(configuration: Configuration): boolean {
  if (configuration.MONGODB_URI !== undefined) return false;
  try {
    // Unlike `existsSync`, `statSync` throws if the file cannot be accessed (EACCES, EIO), in which case it may still exist.
    return statSync(dataFile(configuration), { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Returns a message if the data folder was removed: a replacement worker would serve a new, empty store. */
export const missingStore = (configuration: Configuration): string | undefined =>
  isStoreMissing(configuration)
    ? `${dataFile(configuration)} was removed while the service was running. Restore the data folder, and start again.`
    : undefined;

/** Returns a message if the data folder has no store and a start must not create one. */
export const uncreatedStore = (configuration: Configuration): string | undefined =>
  configuration.CREATE_STORE === 'never' && isStoreMissing(configuration)
    ? `There is no store in the data folder ${resolve(configuration.DATA_DIR)}, and CREATE_STORE is "never". Mount or restore the folder, or create a new store with the command init.`
    : undefined;
