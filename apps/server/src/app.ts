import { type Adapter, type RunOptions, startService } from '@petstore/runtime';
import { docsPage } from '@petstore/runtime/docs';
import { log } from '@petstore/runtime/log';
import { openTelemetry } from '@petstore/runtime/opentelemetry';
import type { Configuration } from './configuration.ts';
import { openConfiguredStore } from './configuredStore.ts';
import { listenOptions } from './edgeOptions.ts';
import { explain } from './explain.ts';
import { expectedErrors } from './errorText.ts';
import { missingStore } from './missingStore.ts';
import { storeFailure } from './storeFailure.ts';

export interface StartOptions {
  /** For tests, which open it otherwise. */
  readonly openStore?: typeof openConfiguredStore;
  /** For tests, which serve it otherwise. */
  readonly adapter?: Adapter;
}

/** The pet store as `run` takes it. */
export async function serviceOptions(
  configuration: Configuration,
  { openStore = openConfiguredStore, adapter }: StartOptions = {},
): Promise<RunOptions> {
  const { ADMIN_HOST, ADMIN_PORT, LOG_LEVEL, LOG_REQUESTS, SERVER, WORKERS } = configuration;
  return {
    // What serves is not loaded by the process that starts workers.
    start: async (context) =>
      (await import('./startPetStore.ts')).startPetStore(configuration, openStore, context),
    server: adapter ?? SERVER,
    listen: listenOptions(configuration),
    log: log({ level: LOG_LEVEL, requests: LOG_REQUESTS, kindOf: storeFailure }),
    telemetry: openTelemetry,
    docs: docsPage(),
    ...(ADMIN_PORT !== undefined && {
      admin: {
        host: ADMIN_HOST,
        port: ADMIN_PORT,
        metrics: (await import('@petstore/runtime/metrics')).metrics({ prefix: 'petstore_' }),
      },
    }),
    workers: WORKERS,
    preventRestart: () => missingStore(configuration),
    explain,
    expectedErrors,
  };
}

/**
 * Starts the service in this process. It listens also while its database is away, and is ready when that comes.
 * @throws {StoreError} where the data folder cannot be used, or the connection string cannot be right
 * @throws {ConfigurationError} where what a variable names cannot be used
 */
export const startServer = async (configuration: Configuration, options?: StartOptions) =>
  startService(await serviceOptions(configuration, options));
