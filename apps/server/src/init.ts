import { resolve } from 'node:path';
import { CommandError } from './commandError.ts';
import type { Configuration } from './configuration.ts';
import { openConfiguredStore } from './configuredStore.ts';
import { makeFirstKey } from './firstKey.ts';
import { isStoreMissing } from './missingStore.ts';

/**
 * Creates the configured store, also with `CREATE_STORE=never`.
 * @returns the first key, or with `API_KEY`, which replaces it, a sentence
 * @throws {CommandError} if there is a store
 */
export async function runInit(configuration: Configuration): Promise<string> {
  const { API_KEY, DATA_DIR, MONGODB_DB, MONGODB_URI } = configuration;
  const place = MONGODB_URI === undefined ? `data folder ${resolve(DATA_DIR)}` : `database ${MONGODB_DB}`;
  const exists = () => new CommandError(`There is already a store in the ${place}. Nothing was changed.`);
  if (MONGODB_URI === undefined && !isStoreMissing(configuration)) throw exists();
  const store = await openConfiguredStore({ ...configuration, CREATE_STORE: 'auto' });
  try {
    await store.ready();
    if (API_KEY !== undefined)
      return `Created a store without a key in the ${place}, because API_KEY is set.`;
    const key = await makeFirstKey(store);
    if (key === undefined) throw exists();
    return key;
  } finally {
    await store.close();
  }
}
