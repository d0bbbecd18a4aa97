import { resolve } from 'node:path';
import type { State } from 'trpc-gateway';
import type { StartContext } from 'trpc-gateway-runtime';
import { type Configuration, ConfigurationError } from '../configuration/configuration.ts';
import { isStoreMissing, uncreatedStore } from './missingStore.ts';
import type { openStore } from './openStore.ts';
import { databaseOf } from './placeOf.ts';

export type ServedStore = Awaited<ReturnType<typeof openServedStore>>;

/**
 * Opens a store to serve: measured, closed with the process, with missing collections and indexes added.
 * @throws {ConfigurationError} if there is no store and none may be created
 * @throws {StoreError} if the data folder cannot be used or the connection string is invalid
 */
export async function openServedStore(
  configuration: Configuration,
  open: typeof openStore,
  { isFirst, log, onClose, signal, stopWithError }: StartContext,
) {
  const { ADMIN_PORT, DATA_DIR, MONGODB_URI } = configuration;
  const uncreated = isFirst ? uncreatedStore(configuration) : undefined;
  if (uncreated !== undefined) throw new ConfigurationError(uncreated);
  const created = isFirst && isStoreMissing(configuration);
  const metrics =
    ADMIN_PORT === undefined ? undefined : (await import('./storeMetrics.ts')).createStoreMetrics();
  const opened = await open(configuration, {
    // Workers may create a store in a database: it may be unavailable until any process reaches it and creates the indexes.
    create: isFirst || MONGODB_URI !== undefined,
    migrate: true,
    onFatal(error) {
      log.fatal(error, 'the store can no longer be used: this process exits');
      stopWithError(error);
    },
    onMigrated: (what) => log.info(what),
  });
  onClose((closing) => opened.close(closing));
  const store = metrics?.wrapStore(opened) ?? opened;
  const counters = await sharedCounters(configuration, { onClose });
  return {
    store,
    /** Returns the metrics of the store and the number of remembered keys; `undefined` without an admin listener. */
    metrics: metrics && ((rememberedKeys: number) => metrics.families(store, rememberedKeys)),
    /** The state in which processes count calls and failed attempts together; `undefined` if this one counts on its own. */
    counters,
    /** Where the data is, for the first log line. */
    startupLogFields:
      MONGODB_URI === undefined
        ? { dataDir: resolve(DATA_DIR), created }
        : { database: databaseOf(configuration) },
    /** Logs why a database cannot be used yet. A start does not wait for it, so no other line says so. */
    logUnavailability: () => {
      if (MONGODB_URI === undefined || !isFirst) return;
      void (async () => opened.ready())().catch((error: unknown) => {
        if (!signal.aborted) log.error(error, 'the store is not ready');
      });
    },
  };
}

/** Where processes count together: the database, or for workers a folder by the data. One counts alone. */
async function sharedCounters(
  { DATA_DIR, FAILED_ATTEMPTS, MONGODB_DB, MONGODB_URI, RATE_LIMIT, WORKERS }: Configuration,
  { onClose }: Pick<StartContext, 'onClose'>,
): Promise<State | undefined> {
  const isCounting = RATE_LIMIT !== undefined || FAILED_ATTEMPTS !== undefined;
  if (!isCounting || (WORKERS === 1 && MONGODB_URI === undefined)) return undefined;
  if (MONGODB_URI !== undefined) {
    const { mongodbCounters } = await import('./mongodbCounters.ts');
    const state = mongodbCounters(MONGODB_URI, databaseOf({ MONGODB_DB, MONGODB_URI }));
    onClose(() => state.close());
    return state;
  }
  const { folderState } = await import('trpc-gateway-shared/state/folder');
  const state = folderState({ path: resolve(DATA_DIR, 'limits') });
  onClose(() => state.close());
  return state;
}
