import { resolve } from 'node:path';
import { createKeyVerifier, type KeyIdentity } from '@petstore/core';
import { createGateway } from '@petstore/gateway';
import { serve } from '@petstore/gateway/uws';
import { authenticateWith } from './authenticate.ts';
import type { Configuration } from './configuration.ts';
import { openConfiguredStore } from './configuredStore.ts';
import { docsRoutes } from './docs.ts';
import { type FirstKeyOptions, firstKeyNotice, makeFirstKey } from './firstKey.ts';
import { healthRoutes } from './health.ts';
import { openLog, requestLog } from './log.ts';
import { service } from './service.ts';

/** How long calls in flight may take once the process is told to stop, in milliseconds. */
const drainDeadlineMs = 10_000;

export interface Server {
  /** Where it is reached from this machine: scheme, host and port. */
  readonly origin: string;
  /** Stops in order: not ready, no new connections, calls in flight answered, store closed, log written out. */
  close(): Promise<void>;
}

/**
 * Starts the service: everything is wired here. It listens also while its database is away, and is ready when that comes.
 * @param openStore for tests, which open it otherwise
 * @throws {StoreError} where the data folder cannot be used, or the connection string cannot be right
 * @throws {ListenError} where the address or the port cannot be had
 */
export async function startServer(
  configuration: Configuration,
  openStore = openConfiguredStore,
): Promise<Server> {
  const { API_KEY, DATA_DIR, HOST, MAX_BODY_BYTES, MONGODB_DB, MONGODB_URI, PORT, PUBLIC_URL } =
    configuration;
  const log = openLog(configuration);
  const store = await openStore(configuration);
  try {
    const stopping = new AbortController();
    const verify = createKeyVerifier({ keys: store.keys, apiKey: API_KEY });
    const onExchange = requestLog(log, configuration);
    const gateway = await createGateway<typeof service.router, KeyIdentity>({
      ...service,
      ...(PUBLIC_URL !== undefined && { publicUrl: PUBLIC_URL }),
      ...(onExchange !== undefined && { onExchange }),
      maxBodyBytes: MAX_BODY_BYTES,
      createContext: ({ reply, identity, idempotencyKey }) => ({
        store,
        reply,
        caller: identity?.hash,
        idempotencyKey,
      }),
      authenticate: authenticateWith(verify),
      routes: { ...healthRoutes({ store, isDraining: () => stopping.signal.aborted }), ...docsRoutes },
    });
    const host = await serve(gateway, { host: HOST, port: PORT });
    const origin = originOf(host);

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
    log.info(
      { origin, ...(MONGODB_URI === undefined ? { dataDir: resolve(DATA_DIR) } : { database: MONGODB_DB }) },
      'listening',
    );
    return {
      origin,
      async close() {
        stopping.abort();
        log.info('stopping');
        const cutOff = await host.close({ deadlineMs: drainDeadlineMs });
        await firstKey;
        await store.close();
        log.info({ cutOff }, 'stopped');
        await log.end();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function originOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
