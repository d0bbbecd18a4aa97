import { reservePort } from 'trpc-gateway/serve';
import { checkRunOptions } from '../checkRunOptions.ts';
import { healthRoutes } from '../health/healthRoutes.ts';
import { openAdmin } from '../openAdmin.ts';
import type { RunOptions } from '../options.ts';
import { consoleLog, logListening } from '../consoleLog.ts';
import { StartError } from '../signals/endProcess.ts';
import { hangupIgnored, type Stoppable, stopDeadlineMs } from '../signals/stopOnSignals.ts';
import { Workers } from './workers.ts';

/**
 * How long after the shutdown deadline workers are killed. A worker that cannot close its store ends itself at the deadline
 * and logs the reason. The supervisor must complete its own shutdown within one second after the deadline.
 */
const killDelayMs = 200;

/** Reserves the port, starts and replaces workers. `started` rejects (`StartError`) if the first fails. */
export async function superviseWorkers(options: RunOptions, count: number): Promise<Stoppable> {
  checkRunOptions(options);
  const { admin, explain = (error) => error, preventRestart = () => undefined } = options;
  const { host = '127.0.0.1', port = 0, tls } = options.listen ?? {};
  const reserved = await reservePort(host, port).catch((error: unknown) => {
    throw explain(error, { listener: 'service', host, port });
  });
  const openedLog = (options.log ?? consoleLog).open({ isShared: true });
  const { log } = openedLog;
  const aggregated = admin?.metrics?.aggregate();
  const workers = new Workers({
    count,
    port: reserved.port,
    log,
    ...(aggregated && { onEnded: aggregated.remove }),
    preventRestart,
  });
  let isDraining = false;
  // Named for the reason if the workers take too long.
  const health = healthRoutes({
    checks: { unavailable: () => workers.ready() },
    isDraining: () => isDraining,
  });
  // First: if the admin port is taken, the start must fail before one-time effects, such as the first key.
  const adminListener =
    admin &&
    (await openAdmin(
      admin,
      health,
      aggregated?.page(() => workers.metrics(), { count, responding: () => workers.responding() }),
      options.explain,
    ));
  if (tls) process.on('SIGHUP', () => workers.reload());

  async function start(): Promise<void> {
    try {
      const { origin, server, version, fallbackReason } = await workers.start(reserved.release);
      if (isDraining) return;
      const listening = {
        origin,
        server,
        version,
        fallbackReason,
        admin: adminListener?.origin,
        workers: count,
      };
      logListening(log, listening, options.log !== undefined);
    } catch (error) {
      if (isDraining) return;
      throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
    } finally {
      reserved.release();
    }
  }

  return {
    started: start(),
    async close() {
      isDraining = true;
      log.info('stopping');
      const failedCount = await workers.stop(stopDeadlineMs + killDelayMs);
      await adminListener?.close();
      log.info('stopped');
      await openedLog.end();
      if (failedCount > 0) throw new StartError(`${failedCount} of ${count} workers did not exit cleanly.`);
    },
    kill: () => workers.kill(),
    ...(!tls && { onHangup: () => log.info(hangupIgnored) }),
    fatalError: workers.fatalError,
  };
}
