import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { reservePort } from '@petstore/gateway/listen';
import { healthRoutes } from '@petstore/runtime/health';
import { openLog } from '@petstore/runtime/log';
import { openGatheringAdmin } from './admin.ts';
import { CommandError } from './commandError.ts';
import type { Configuration } from './configuration.ts';
import { tlsFiles } from './edgeOptions.ts';
import { listenFault } from './listenFault.ts';
import { originOf } from './originOf.ts';
import { type Stoppable, stopDeadlineMs } from './stopOnSignals.ts';
import { storeChecks } from './storeChecks.ts';
import { warnIfRoot } from './warnIfRoot.ts';
import { createWorkers } from './workers.ts';

/**
 * How much longer than a stop the workers may take to end, in milliseconds: then they are killed. One whose store does not
 * close ends itself at its deadline, and logs why. The rest of this process's own stop must fit into the second after it.
 */
const graceMs = 200;

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
  const log = openLog({ level: configuration.LOG_LEVEL, isShared: true });
  const env = { ...process.env, PORT: String(reserved.port) };
  const admin = await openGatheringAdmin(configuration);
  const workers = createWorkers({
    count: WORKERS,
    env,
    log,
    ...(admin && { onEnded: admin.gone }),
    missing: () => missingStore(configuration),
  });
  let isDraining = false;
  const health = healthRoutes({ checks: storeChecks(workers), isDraining: () => isDraining });
  // Before a worker makes the first key: a start that fails must not have used up its one showing.
  const adminListener = await admin?.listen(health, () => workers.metrics());
  // Without TLS a SIGHUP does here what it does to any process, as it does without workers.
  if (tlsFiles(configuration)) process.on('SIGHUP', () => workers.reload());
  const { origin, server } = await workers
    .start(reserved.release)
    .catch((error: unknown) => {
      throw new CommandError(error instanceof Error ? error.message : String(error), { cause: error });
    })
    .finally(reserved.release);
  const shown = adminListener && {
    admin: originOf({ host: ADMIN_HOST, port: adminListener.port }, 'http'),
  };
  warnIfRoot(log);
  log.info({ origin, server, ...shown, workers: WORKERS }, 'listening');
  return {
    async close() {
      isDraining = true;
      log.info('stopping');
      const failed = await workers.stop(stopDeadlineMs + graceMs);
      await adminListener?.close();
      log.info('stopped');
      await log.end();
      if (failed > 0) throw new CommandError(`${failed} of ${WORKERS} workers did not end in order.`);
    },
    kill: () => workers.kill(),
    failed: workers.failed,
  };
}

/** Says that the data folder is gone, where it is: a worker that took its place would serve a new, empty store. */
function missingStore({ DATA_DIR, MONGODB_URI }: Configuration): string | undefined {
  const file = resolve(DATA_DIR, 'petstore.mdb');
  return MONGODB_URI !== undefined || exists(file)
    ? undefined
    : `${file} was removed while the service ran: put the data folder back or restore it, and start again.`;
}

/** Unlike `existsSync`, true where the file cannot be looked at (EACCES, EIO): that does not say that it was removed. */
function exists(file: string): boolean {
  try {
    // `undefined` for ENOENT and ENOTDIR.
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
