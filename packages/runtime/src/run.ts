import { availableParallelism } from 'node:os';
import type { RunOptions } from './options.ts';
import { startService } from './service.ts';
import { endWithError, StartError } from './signals/endProcess.ts';
import { type Stoppable, stopOnSignals } from './signals/stopOnSignals.ts';
import { takeWorkerRole } from './workers/workerRole.ts';

const ignore = () => {};

/**
 * Runs a service until SIGTERM or SIGINT. The first signal stops it within 10 s: `/readyz` answers 503, calls in flight
 * complete, resources are closed, and the exit code is 0. A second signal ends it immediately. If the start or the service
 * fails, it prints the reason to stderr and exits with code 1. With `workers`, each runs the same program, which must call
 * `run` with the same options.
 */
export async function run(options: RunOptions): Promise<void> {
  const { expectedErrors } = options;
  // Without a listener, what is written to a closed terminal or a full disk would end the service.
  for (const stream of [process.stdout, process.stderr]) stream.off('error', ignore).on('error', ignore);
  try {
    const role = takeWorkerRole();
    if (role !== undefined) {
      const { runWorker } = await import('./workers/worker.ts');
      return await runWorker(options, role);
    }
    const count = workerCount(options.workers);
    const starting: Promise<Stoppable> =
      count === 1
        ? startService(options)
        : import('./workers/supervisor.ts').then(({ superviseWorkers }) => superviseWorkers(options, count));
    stopOnSignals(starting, { expectedErrors });
    await (
      await starting
    ).started;
  } catch (error) {
    endWithError(error, expectedErrors);
  }
}

/** @throws {StartError} if the number is invalid, or more than one on a system other than Linux */
function workerCount(workers: RunOptions['workers'] = 1): number {
  const canShare = process.platform === 'linux';
  if (workers === 'auto') return canShare ? availableParallelism() : 1;
  if (!Number.isInteger(workers) || workers < 1) {
    throw new StartError(`workers is ${workers}; it must be a positive integer or "auto".`);
  }
  if (workers > 1 && !canShare) {
    throw new StartError(
      `workers is ${workers}, but only Linux distributes the connections of a port to several processes. Use "auto".`,
    );
  }
  return workers;
}
