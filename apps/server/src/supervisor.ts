import { reservePort } from '@petstore/gateway/uws';
import { openGatheringAdmin } from './admin.ts';
import { CommandError } from './commandError.ts';
import type { Configuration } from './configuration.ts';
import { tlsFiles } from './edgeOptions.ts';
import { listenFault } from './listenFault.ts';
import { healthRoutes } from './health.ts';
import { openLog } from './log.ts';
import { originOf } from './originOf.ts';
import { drainDeadlineMs, type Stoppable } from './stopOnSignals.ts';
import { createWorkers } from './workers.ts';

/** How much longer than their drain the workers may take to end: store and log are closed then. In milliseconds. */
const graceMs = 3_000;

/**
 * Serves by several processes on one port. This one serves nothing itself: it picks the port, starts the workers, and
 * replaces those that end.
 * @throws {ConfigurationError} where the address or the port cannot be had
 * @throws {CommandError} where the workers cannot start
 */
export async function startWorkers(configuration: Configuration): Promise<Stoppable> {
  const { ADMIN_HOST, HOST, PORT, WORKERS } = configuration;
  const reserved = await reservePort(HOST, PORT).catch((error: unknown) => {
    throw listenFault(error, HOST, PORT);
  });
  const log = openLog(configuration);
  const env = { ...process.env, PORT: String(reserved.port) };
  const admin = await openGatheringAdmin(configuration);
  const workers = createWorkers({ count: WORKERS, env, log, ...(admin && { onEnded: admin.gone }) });
  let isDraining = false;
  const health = healthRoutes({ store: workers, isDraining: () => isDraining });
  // Before a worker makes the first key: a start that fails must not have used up its one showing.
  const adminListener = await admin?.listen(health, () => workers.metrics());
  // Without TLS a SIGHUP does here what it does to any process, as it does without workers.
  if (tlsFiles(configuration)) process.on('SIGHUP', () => workers.reload());
  const origin = await workers
    .start(reserved.release)
    .catch((error: unknown) => {
      throw new CommandError(error instanceof Error ? error.message : String(error), { cause: error });
    })
    .finally(reserved.release);
  const shown = adminListener && {
    admin: originOf({ host: ADMIN_HOST, port: adminListener.port }, 'http'),
  };
  log.info({ origin, ...shown, workers: WORKERS }, 'listening');
  return {
    async close() {
      isDraining = true;
      log.info('stopping');
      const failed = await workers.stop(drainDeadlineMs + graceMs);
      await adminListener?.close();
      log.info('stopped');
      await log.end();
      if (failed > 0) throw new Error(`${failed} of ${WORKERS} workers did not end in order.`);
    },
    kill: () => workers.kill(),
  };
}
