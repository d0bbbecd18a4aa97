import { resolve } from 'node:path';
import { createKeyVerifier, type KeyIdentity } from '@petstore/core';
import { bearer, createGateway } from 'trpc-gateway';
import type { StartContext, Started } from 'trpc-gateway-runtime';
import { authenticateWith } from './authenticate.ts';
import { type Configuration, ConfigurationError } from './configuration.ts';
import type { openConfiguredStore } from './configuredStore.ts';
import { edgeOptions } from './edgeOptions.ts';
import { type FirstKeyOptions, firstKeyNotice, makeFirstKey } from './firstKey.ts';
import { isStoreMissing, uncreatedStore } from './missingStore.ts';
import { apiKeyCredential, service } from './service.ts';
import { storeChecks } from './storeFailure.ts';

/** Opens the store and creates the gateway. All parts of the service are wired here. */
export async function startPetStore(
  configuration: Configuration,
  openStore: typeof openConfiguredStore,
  { options, log, isFirst, signal, onClose, stopWithError }: StartContext,
): Promise<Started> {
  const { ADMIN_PORT, API_KEY, DATA_DIR, MONGODB_DB, MONGODB_URI } = configuration;
  const { FAILED_ATTEMPTS, RATE_LIMIT, WORKERS } = configuration;
  const uncreated = isFirst ? uncreatedStore(configuration) : undefined;
  if (uncreated !== undefined) throw new ConfigurationError(uncreated);
  const created = isFirst && isStoreMissing(configuration);
  const storeMetrics =
    ADMIN_PORT === undefined ? undefined : (await import('./storeMetrics.ts')).createStoreMetrics();
  const openedStore = await openStore(configuration, {
    // Workers may create a store in a database: it may be unavailable until any process reaches it and creates the indexes.
    create: isFirst || MONGODB_URI !== undefined,
    migrate: true,
    onFatal(error) {
      log.fatal(error, 'the store can no longer be used: this process exits');
      stopWithError(error);
    },
    onMigrated: (what) => log.info(what),
  });
  onClose((closing) => openedStore.close(closing));
  const store = storeMetrics?.wrapStore(openedStore) ?? openedStore;
  const state =
    WORKERS > 1 && MONGODB_URI === undefined && (RATE_LIMIT ?? FAILED_ATTEMPTS)
      ? (await import('trpc-gateway-runtime/state/folder')).folderState({ path: resolve(DATA_DIR, 'limits') })
      : undefined;
  onClose(() => state?.close());
  const verify = createKeyVerifier({ keys: store.keys, apiKey: API_KEY });
  const gateway = await createGateway<typeof service.router, KeyIdentity>({
    ...service,
    ...edgeOptions(configuration, state && { state }),
    ...options,
    createContext: ({ response, identity, idempotencyKey }) => ({
      store,
      response,
      caller: identity?.hash,
      idempotencyKey,
    }),
    authentication: bearer({ ...apiKeyCredential, verify: authenticateWith(verify) }),
  });

  async function showFirstKey(origin: string, tries?: FirstKeyOptions): Promise<void> {
    const key = await makeFirstKey(store, tries);
    if (key !== undefined) process.stderr.write(firstKeyNotice(key, origin));
  }

  return {
    gateway,
    checks: storeChecks(store),
    metrics: storeMetrics && (() => storeMetrics.families(store, verify.cachedKeys())),
    startupLogFields:
      MONGODB_URI === undefined ? { dataDir: resolve(DATA_DIR), created } : { database: MONGODB_DB },
    // After the port is open: the key is shown only once, and a start that fails must not use that up.
    async onListening(origin) {
      if (MONGODB_URI !== undefined && isFirst) {
        // The start does not wait for the database, so this line is the only one that says why it is not ready.
        void (async () => openedStore.ready())().catch((error: unknown) => {
          if (!signal.aborted) log.error(error, 'the store is not ready');
        });
      }
      if (API_KEY !== undefined) return;
      if (MONGODB_URI === undefined) return showFirstKey(origin);
      // The start does not wait for the database.
      const firstKey = showFirstKey(origin, { untilAborted: signal }).catch((error: unknown) =>
        log.error(error, 'the first API key could not be created'),
      );
      onClose(() => firstKey);
    },
  };
}
