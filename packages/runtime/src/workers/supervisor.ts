import { reservePort } from '@petstore/gateway/listen';
import { checkRunOptions } from '../checkRunOptions.ts';
import { healthRoutes } from '../health/healthRoutes.ts';
import { openAdmin } from '../openAdmin.ts';
import type { RunOptions } from '../options.ts';
import { consoleLog } from '../consoleLog.ts';
import { StartError } from '../signals/startError.ts';
import { type Stoppable, stopDeadlineMs } from '../signals/stopOnSignals.ts';
import { warnIfRoot } from '../warnIfRoot.ts';
import { createWorkers } from './workers.ts';

/**
 * How much longer than a stop the workers may take to end, in milliseconds: then they are killed. One whose store does not
 * close ends itself at its deadline, and logs why. The rest of this process's own stop must fit into the second after it.
 */
const graceMs = 200;

/**
 * Serves by several processes on one port. This one serves nothing itself: it picks the port, starts the workers, and
 * replaces those that end.
 * @throws {StartError} where the workers cannot start
 */
export async function startWorkers(options: RunOptions, count: number): Promise<Stoppable> {
  checkRunOptions(options);
  const { admin, explain = (error) => error, missing = () => undefined } = options;
  const { host = '127.0.0.1', port = 0, tls } = options.listen ?? {};
  const reserved = await reservePort(host, port).catch((error: unknown) => {
    throw explain(error, { listener: 'service', host, port });
  });
  const opened = (options.log ?? consoleLog).open({ isShared: true });
  const { log } = opened;
  const gathered = admin?.metrics?.gather();
  const workers = createWorkers({
    count,
    port: reserved.port,
    log,
    ...(gathered && { onEnded: gathered.gone }),
    missing,
  });
  let isDraining = false;
  const health = healthRoutes({ checks: { workers: () => workers.ready() }, isDraining: () => isDraining });
  // Before a worker starts the service: a start that fails must not have used up what happens once.
  const adminListener =
    admin &&
    (await openAdmin(
      admin,
      health,
      gathered?.page(() => workers.metrics()),
      options.explain,
    ));
  // Without TLS a SIGHUP does here what it does to any process, as it does without workers.
  if (tls) process.on('SIGHUP', () => workers.reload());
  const { origin, server } = await workers
    .start(reserved.release)
    .catch((error: unknown) => {
      throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
    })
    .finally(reserved.release);
  warnIfRoot(log);
  log.info(
    { origin, server, ...(adminListener && { admin: adminListener.origin }), workers: count },
    'listening',
  );
  return {
    async close() {
      isDraining = true;
      log.info('stopping');
      const failed = await workers.stop(stopDeadlineMs + graceMs);
      await adminListener?.close();
      log.info('stopped');
      await opened.end();
      if (failed > 0) throw new StartError(`${failed} of ${count} workers did not end in order.`);
    },
    kill: () => workers.kill(),
    failed: workers.failed,
  };
}
