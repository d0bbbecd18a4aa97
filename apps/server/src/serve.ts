import { type RunOptions, startService } from 'trpc-gateway-runtime';
import { docsPage } from 'trpc-gateway-runtime/docs';
import { log } from 'trpc-gateway-runtime/log';
import { openTelemetry } from 'trpc-gateway-runtime/opentelemetry';
import type { Configuration } from './configuration/configuration.ts';
import { misspelledVariables } from './configuration/misspelledVariables.ts';
import { listenOptions } from './configuration/options.ts';
import { expectedErrors, explain } from './explain.ts';
import { missingStore } from './store/missingStore.ts';
import { openStore } from './store/openStore.ts';
import { storeFailure } from './store/storeFailure.ts';

/** The HTTP servers by `SERVER`; of several, the first that can run here. */
export const servers = {
  auto: ['bun', 'uws', 'node'],
  /** uWebSockets.js. It needs a binary for this Node and system. */
  uws: ['uws'],
  /** node:http. */
  node: ['node'],
  bun: ['bun'],
} as const satisfies Record<Configuration['SERVER'], RunOptions['server']>;

export interface StartOptions {
  /** Opens the store. Tests replace it. Default: `openStore`. */
  readonly openStore?: typeof openStore;
  /** Variables of this environment that look misspelled are logged. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export async function serviceOptions(
  configuration: Configuration,
  { openStore: open = openStore, environment = {} }: StartOptions = {},
): Promise<RunOptions> {
  const { ADMIN_HOST, ADMIN_PORT, LOG_LEVEL, LOG_REQUESTS, SERVER, WORKERS } = configuration;
  return {
    // Imported on demand: the supervisor needs neither the store nor the gateway, which mounts tRPC and REST.
    async start(context) {
      if (context.isFirst) for (const what of misspelledVariables(environment)) context.log.warn(what);
      const { openServedStore } = await import('./store/servedStore.ts');
      const { startPetStore } = await import('./gateway.ts');
      return startPetStore(configuration, await openServedStore(configuration, open, context), context);
    },
    server: servers[SERVER],
    listen: listenOptions(configuration),
    log: log({ level: LOG_LEVEL, requests: LOG_REQUESTS, kindOf: storeFailure }),
    telemetry: openTelemetry,
    docs: docsPage(),
    ...(ADMIN_PORT !== undefined && {
      admin: {
        host: ADMIN_HOST,
        port: ADMIN_PORT,
        metrics: (await import('trpc-gateway-runtime/metrics')).metrics({ prefix: 'petstore_' }),
      },
    }),
    workers: WORKERS,
    preventRestart: () => missingStore(configuration),
    explain,
    expectedErrors,
  };
}

/**
 * Starts the service in this process. It listens while the database is unavailable; it is ready once it is reached.
 * @throws {StoreError} if the data folder cannot be used or the connection string is invalid
 * @throws {ConfigurationError} if a setting cannot be used, such as a port that is in use
 */
export const startServer = async (configuration: Configuration, options?: StartOptions) =>
  startService(await serviceOptions(configuration, options));
