import { collections, type Store, type StoreError } from '@petstore/core';
import type { StoreOptions } from '@petstore/core/store';
import type { Configuration } from '../configuration/configuration.ts';
import { databaseOf } from './placeOf.ts';

/** As of the stores, but that `CREATE_STORE` must allow `create`, and that `migrate` is false by default. */
export interface OpenOptions extends Pick<StoreOptions, 'create' | 'migrate' | 'onMigrated'> {
  /** Called once if this process can no longer use its data folder. Not called for a database, which may come back. */
  readonly onFatal?: (error: StoreError) => void;
}

/**
 * Opens the configured store and loads only its code, also while the database is unavailable (see `ready`).
 * @throws {StoreError} if the data folder cannot be used or the connection string is invalid
 */
export async function openStore(
  configuration: Configuration,
  { create: mayCreate = true, migrate = false, onFatal, onMigrated }: OpenOptions = {},
): Promise<Store> {
  const { DATA_DIR, MONGODB_POOL_SIZE, MONGODB_TIMEOUT_MS, MONGODB_URI } = configuration;
  const create = mayCreate && configuration.CREATE_STORE === 'auto';
  if (MONGODB_URI === undefined) {
    const { openEmbeddedStore } = await import('@petstore/embedded-store');
    return openEmbeddedStore({ dataDir: DATA_DIR, create, migrate, onFatal, onMigrated, collections });
  }
  const { openMongodbStore } = await import('@petstore/core/store/mongodb');
  return openMongodbStore({
    uri: MONGODB_URI,
    database: databaseOf(configuration),
    create,
    migrate,
    onMigrated,
    // A call may look up its key first, which takes at most half as long. Together they stay within the timeout.
    operationTimeoutMs: Math.floor((MONGODB_TIMEOUT_MS * 2) / 3),
    maxPoolSize: MONGODB_POOL_SIZE,
    collections,
  });
}
