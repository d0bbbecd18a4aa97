import { StoreError } from '@petstore/core';
import { CommandError } from './commandError.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { placeOf } from '../store/placeOf.ts';
import { openStore } from '../store/openStore.ts';
import { makeFirstKey } from '../firstKey.ts';

/**
 * Creates the configured store, also with `CREATE_STORE=never`.
 * @returns the first key, or with `API_KEY`, which replaces it, a sentence
 * @throws {CommandError} if there is a store
 */
export async function runInit(configuration: Configuration): Promise<string> {
  const place = placeOf(configuration);
  const exists = () => new CommandError(`There is already a store in the ${place}. Nothing was changed.`);
  if (await hasStore(configuration)) throw exists();
  const store = await openStore({ ...configuration, CREATE_STORE: 'auto' });
  try {
    await store.ready();
    if (configuration.API_KEY !== undefined)
      return `Created a store without a key in the ${place}, because API_KEY is set.`;
    const key = await makeFirstKey(store);
    if (key === undefined) throw exists();
    return key;
  } finally {
    await store.close();
  }
}

/** Whether the configured store can be opened. If it exists and cannot be opened, creating it fails for the same reason. */
async function hasStore(configuration: Configuration): Promise<boolean> {
  let store;
  try {
    store = await openStore(configuration, { create: false });
    await store.ready();
    return true;
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
  } finally {
    await store?.close();
  }
}
