import type { Store, StoreError } from '@petstore/core';
import type { Configuration } from './configuration.ts';

export interface OpenOptions {
  /** Whether a data folder or a database without a store gets one. Default: true. */
  readonly create?: boolean;
  /** Whether a store of an earlier version is brought up to date. Default: false; then it is an error. */
  readonly migrate?: boolean;
  /** Called with a sentence for each step that brought it up to date. */
  readonly onMigrated?: (what: string) => void;
  /** Called once, when this process can no longer use its data folder. A database is waited for instead. */
  readonly onFatal?: (error: StoreError) => void;
}

/**
 * Opens the store that is configured; the other one's code is not even loaded. A database may be away: the store's
 * `ready` says.
 * @throws {StoreError} where the data folder cannot be used, or the connection string cannot be right
 */
export async function openConfiguredStore(
  { DATA_DIR, MONGODB_DB, MONGODB_POOL_SIZE, MONGODB_TIMEOUT_MS, MONGODB_URI }: Configuration,
  { create = true, migrate = false, onFatal, onMigrated }: OpenOptions = {},
): Promise<Store> {
  if (MONGODB_URI === undefined) {
    const { openEmbeddedStore } = await import('@petstore/core/store/embedded');
    return openEmbeddedStore({ dataDir: DATA_DIR, create, migrate, onFatal, onMigrated });
  }
  const { openMongodbStore } = await import('@petstore/core/store/mongodb');
  return openMongodbStore({
    uri: MONGODB_URI,
    database: MONGODB_DB,
    create,
    migrate,
    onMigrated,
    // A call may look its key up first, which takes half as long at most: together they stay within the limit.
    operationTimeoutMs: Math.floor((MONGODB_TIMEOUT_MS * 2) / 3),
    maxPoolSize: MONGODB_POOL_SIZE,
  });
}
