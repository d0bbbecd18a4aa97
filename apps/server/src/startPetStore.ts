import { resolve } from 'node:path';
import { createKeyVerifier, type KeyIdentity } from '@petstore/core';
import { bearer, createGateway } from '@petstore/gateway';
import type { StartContext, Started } from '@petstore/runtime';
import { authenticateWith } from './authenticate.ts';
import type { Configuration } from './configuration.ts';
import type { openConfiguredStore } from './configuredStore.ts';
import { edgeOptions } from './edgeOptions.ts';
import { type FirstKeyOptions, firstKeyNotice, makeFirstKey } from './firstKey.ts';
import { apiKey, service } from './service.ts';
import { storeChecks } from './storeFailure.ts';

/** Opens the store and makes the gateway: everything is wired here. */
export async function startPetStore(
  configuration: Configuration,
  openStore: typeof openConfiguredStore,
  { options, log, isFirst, signal, onClose, stopWithError }: StartContext,
): Promise<Started> {
  const { ADMIN_PORT, API_KEY, DATA_DIR, MONGODB_DB, MONGODB_URI } = configuration;
  const { FAILED_ATTEMPTS, RATE_LIMIT, WORKERS } = configuration;
  const measured =
    ADMIN_PORT === undefined ? undefined : (await import('./storeMetrics.ts')).createStoreMetrics();
  const opened = await openStore(configuration, {
    // Only the first process on a new database makes its indexes, and it may be away until any of them finds it.
    create: isFirst || MONGODB_URI !== undefined,
    migrate: true,
    onFatal(error) {
      log.fatal(error, 'the store cannot be used any more: this process ends');
      stopWithError(error);
    },
    onMigrated: (what) => log.info(what),
  });
  onClose((closing) => opened.close(closing));
  const store = measured?.wrapStore(opened) ?? opened;
  const state =
    WORKERS > 1 && MONGODB_URI === undefined && (RATE_LIMIT ?? FAILED_ATTEMPTS)
      ? (await import('@petstore/runtime/state/folder')).folderState({ path: resolve(DATA_DIR, 'limits') })
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
    authentication: bearer({ ...apiKey, verify: authenticateWith(verify) }),
  });

  async function showFirstKey(origin: string, tries?: FirstKeyOptions): Promise<void> {
    const key = await makeFirstKey(store, tries);
    if (key !== undefined) process.stderr.write(firstKeyNotice(key, origin));
  }

  return {
    gateway,
    checks: storeChecks(store),
    metrics: measured && (() => measured.families(store, verify.remembered())),
    startupLogFields: MONGODB_URI === undefined ? { dataDir: resolve(DATA_DIR) } : { database: MONGODB_DB },
    // After the port is had: a start that fails must not have used up the one showing of the key.
    async onListening(origin) {
      if (API_KEY !== undefined) return;
      if (MONGODB_URI === undefined) return showFirstKey(origin);
      // A start does not wait for a database.
      const firstKey = showFirstKey(origin, { untilAborted: signal }).catch((error: unknown) =>
        log.error(error, 'no first key could be made'),
      );
      onClose(() => firstKey);
    },
  };
}
