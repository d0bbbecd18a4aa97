import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Awaitable, createKeyVerifier, type KeyIdentity, type StoreError } from '@petstore/core';
import { bearer, createGateway } from '@petstore/gateway';
import { docsPage } from '@petstore/runtime/docs';
import { healthRoutes } from '@petstore/runtime/health';
import { openLog, requestLog } from '@petstore/runtime/log';
import { type Adapter, loadAdapter } from './adapter.ts';
import { openAdmin } from './admin.ts';
import { authenticateWith } from './authenticate.ts';
import type { Configuration } from './configuration.ts';
import { openConfiguredStore } from './configuredStore.ts';
import { reloadCertificates } from './certificateReload.ts';
import { UnclosedStoreError } from './endProcess.ts';
import { edgeOptions, listenOptions, tlsFiles } from './edgeOptions.ts';
import { faultText } from './faultText.ts';
import { type FirstKeyOptions, firstKeyNotice, makeFirstKey } from './firstKey.ts';
import { listenFault } from './listenFault.ts';
import type { MetricsSnapshot } from './metrics/index.ts';
import { originOf } from './originOf.ts';
import { countByExecution } from './countByExecution.ts';
import { apiKey, service } from './service.ts';
import { storeChecks } from './storeChecks.ts';
import { storeFailure } from './storeFailure.ts';
import { warnIfRoot } from './warnIfRoot.ts';
import { drainDeadlineMs, stopDeadlineMs, type StopOptions } from './stopOnSignals.ts';

export interface Server {
  /** Where it is reached from this machine: scheme, host and port. */
  readonly origin: string;
  /** What serves. */
  readonly server: Adapter['server'];
  /** What the process has counted, as its parent gathers it; unset where it counts nothing. */
  readonly metrics?: () => Promise<MetricsSnapshot>;
  /** Resolves where its store can serve. @throws {StoreError} that says why it cannot */
  readonly ready: () => Awaitable<void>;
  /** Resolves when the store can no longer be used by this process. It should end then. */
  readonly failed: Promise<StoreError>;
  /**
   * Stops in order: not ready, no new connections, calls in flight answered, store closed, log written out.
   * @throws {UnclosedStoreError} where the store did not close within `stopDeadlineMs`
   */
  close(options?: StopOptions): Promise<void>;
}

export interface StartOptions {
  /** For tests, which open it otherwise. */
  readonly openStore?: typeof openConfiguredStore;
  /** For tests, which serve it otherwise. */
  readonly adapter?: Adapter;
  /** Whether other processes serve on the port too; their parent says where they listen. Default: false. */
  readonly isWorker?: boolean;
  /** Whether a data folder without a store gets one. Default: true. */
  readonly createStore?: boolean;
}

/**
 * Starts the service: everything is wired here. It listens also while its database is away, and is ready when that comes.
 * @throws {StoreError} where the data folder cannot be used, or the connection string cannot be right
 * @throws {ConfigurationError} where `SERVER` has no binary, the address or the port cannot be had, or the certificate
 * cannot be served
 */
export async function startServer(
  configuration: Configuration,
  { openStore = openConfiguredStore, adapter, isWorker = false, createStore = true }: StartOptions = {},
): Promise<Server> {
  const { ADMIN_HOST, API_KEY, DATA_DIR, HOST, MONGODB_DB, MONGODB_URI, PORT } = configuration;
  const { server, serve } = adapter ?? (await loadAdapter(configuration));
  const log = openLog({ level: configuration.LOG_LEVEL, isShared: configuration.WORKERS > 1 });
  const admin = await openAdmin(configuration);
  const { promise: failed, resolve: fail } = Promise.withResolvers<StoreError>();
  const onFatal = (error: StoreError) => {
    log.fatal(error, 'the store cannot be used any more: this process ends');
    fail(error);
  };
  // Only the first process on a new database makes its indexes, and it may be away until any of them finds it.
  const create = createStore || MONGODB_URI !== undefined;
  const opened = await openStore(configuration, {
    create,
    migrate: true,
    onFatal,
    onMigrated: (what) => log.info(what),
  });
  const store = admin?.wrapStore(opened) ?? opened;
  try {
    const stopping = new AbortController();
    const verify = createKeyVerifier({ keys: store.keys, apiKey: API_KEY });
    const requests = requestLog(log, { requests: configuration.LOG_REQUESTS, kindOf: storeFailure });
    const onExchange =
      admin === undefined ? requests?.onExchange : bothOf(admin.onExchange, requests?.onExchange);
    const health = healthRoutes({ checks: storeChecks(store), isDraining: () => stopping.signal.aborted });
    const gateway = await createGateway<typeof service.router, KeyIdentity>({
      ...service,
      ...edgeOptions(configuration),
      ...(onExchange !== undefined && { onExchange }),
      createContext: ({ reply, identity, idempotencyKey }) => ({
        store,
        reply,
        caller: identity?.hash,
        idempotencyKey,
      }),
      authentication: bearer({ ...apiKey, verify: authenticateWith(verify) }),
      routes: { ...health, ...docsPage() },
    });
    const host = await serve(gateway, { ...listenOptions(configuration), reusePort: isWorker }).catch(
      (error: unknown) => {
        throw listenFault(error, HOST, PORT);
      },
    );
    const files = tlsFiles(configuration);
    const endReloads = files && reloadCertificates({ files, reload: () => host.reloadCertificate(), log });
    const origin = originOf(host, files === undefined ? 'http' : 'https');
    const procedures = countByExecution(gateway);
    const sources = {
      server,
      procedures,
      ready: () => store.ready(),
      callsInFlight: gateway.callsInFlight,
      connections: () => host.connections(),
      rememberedKeys: verify.remembered,
      refusedTokens: gateway.refusedTokens,
    };
    // One port cannot be every worker's: their parent shows what they tell it.
    const adminListener = await (isWorker ? undefined : admin?.listen(health, sources))?.catch(
      async (error: unknown) => {
        await host.close({ deadlineMs: 0 });
        throw error;
      },
    );

    const showFirstKey = async (options?: FirstKeyOptions) => {
      const key = await makeFirstKey(store, options);
      if (key !== undefined) process.stderr.write(firstKeyNotice(key, origin));
    };
    let firstKey: Promise<void> | undefined;
    // After the port is had: a start that fails must not have used up the one showing of the key.
    if (API_KEY === undefined) {
      if (MONGODB_URI === undefined) await showFirstKey();
      // A start does not wait for a database.
      else {
        firstKey = showFirstKey({ untilAborted: stopping.signal }).catch((error: unknown) =>
          log.error(error, 'no first key could be made'),
        );
      }
    }
    const kept = MONGODB_URI === undefined ? { dataDir: resolve(DATA_DIR) } : { database: MONGODB_DB };
    const shown = adminListener && {
      admin: originOf({ host: ADMIN_HOST, port: adminListener.port }, 'http'),
    };
    if (!isWorker) warnIfRoot(log);
    log.info({ origin, server, ...shown, ...kept, procedures }, isWorker ? 'worker listening' : 'listening');
    return {
      origin,
      server,
      ...(admin && { metrics: () => admin.snapshot(sources) }),
      ready: () => store.ready(),
      failed,
      async close({ drainMs } = { drainMs: drainDeadlineMs }) {
        const until = performance.now() + stopDeadlineMs;
        stopping.abort();
        endReloads?.();
        log.info('stopping');
        const cutOff = await host.close({ deadlineMs: drainMs });
        requests?.end();
        const unclosed = await unlessInTime(until, async () => {
          await firstKey;
          await adminListener?.close();
          await store.close({ deadlineMs: Math.max(until - performance.now(), 0) });
        });
        if (unclosed === undefined) log.info({ cutOff }, 'stopped');
        else log.error({ cutOff, err: unclosed }, 'stopped, but the store did not close');
        await log.end();
        if (unclosed !== undefined) throw unclosed;
      },
    };
  } catch (error) {
    const until = performance.now() + stopDeadlineMs - drainDeadlineMs;
    const unclosed = await unlessInTime(until, () => store.close({ deadlineMs: until - performance.now() }));
    // It ends the process in another way.
    throw unclosed === undefined ? error : new UnclosedStoreError(faultText(error), { cause: error });
  }
}

/** @returns why it has not ended in time; `undefined` where it has */
async function unlessInTime(
  until: number,
  close: () => Promise<void>,
): Promise<UnclosedStoreError | undefined> {
  const unclosed = (why: string, cause?: unknown) =>
    new UnclosedStoreError(`The store did not close: ${why}`, { cause });
  const timedOut = new AbortController();
  try {
    return await Promise.race([
      close().then(() => undefined),
      // Later than the store, which knows more about it.
      sleep(until - performance.now() + 250, undefined, { signal: timedOut.signal }).then(() =>
        unclosed('it took too long.'),
      ),
    ]);
  } catch (error) {
    return unclosed(faultText(error), error);
  } finally {
    timedOut.abort();
  }
}

function bothOf<Told>(
  one: (told: Told) => void,
  other: ((told: Told) => void) | undefined,
): (told: Told) => void {
  if (other === undefined) return one;
  return (told) => {
    one(told);
    other(told);
  };
}
