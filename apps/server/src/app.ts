import { resolve } from 'node:path';
import { createKeyVerifier, type KeyIdentity } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { createGateway } from '@petstore/gateway';
import { serve } from '@petstore/gateway/uws';
import { authenticateWith } from './authenticate.ts';
import type { Configuration } from './configuration.ts';
import { docsRoutes } from './docs.ts';
import { firstKeyNotice, makeFirstKey } from './firstKey.ts';
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
 * Starts the service: everything is wired here.
 * @throws {StoreError} where the data folder cannot be used
 * @throws {ListenError} where the address or the port cannot be had
 */
export async function startServer(configuration: Configuration): Promise<Server> {
  const { API_KEY, DATA_DIR, HOST, MAX_BODY_BYTES, PORT, PUBLIC_URL } = configuration;
  const log = openLog(configuration);
  const store = await openEmbeddedStore({ dataDir: DATA_DIR });
  try {
    let draining = false;
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
      routes: { ...healthRoutes({ store, isDraining: () => draining }), ...docsRoutes },
    });
    const host = await serve(gateway, { host: HOST, port: PORT });
    const origin = originOf(host);
    // After the port is had: a start that fails must not have used up the one showing of the key.
    const firstKey = API_KEY === undefined ? await makeFirstKey(store) : undefined;
    if (firstKey !== undefined) process.stderr.write(firstKeyNotice(firstKey, origin));
    log.info({ origin, dataDir: resolve(DATA_DIR) }, 'listening');
    return {
      origin,
      async close() {
        draining = true;
        log.info('stopping');
        const cutOff = await host.close({ deadlineMs: drainDeadlineMs });
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
