import { availableParallelism } from 'node:os';
import type { RunOptions } from './options.ts';
import { startService } from './service.ts';
import { endWithFault } from './signals/endProcess.ts';
import { StartError } from './signals/startError.ts';
import { stopOnSignals } from './signals/stopOnSignals.ts';
import { takeWorkerRole } from './workers/workerRole.ts';

/**
 * Runs a service until SIGTERM or SIGINT. The first signal stops it in order, within 10 s: `/readyz` answers 503, calls in
 * flight are answered, what the service opened is closed, and the process ends with code 0. A second one ends it at once.
 * Where it cannot start, or fails, the process says why on stderr and ends with code 1.
 *
 * With `workers` the same program runs again in each of them: call `run` for the same service with the same options.
 */
export async function run(options: RunOptions): Promise<void> {
  const { expectedErrors } = options;
  try {
    const role = takeWorkerRole();
    if (role !== undefined) {
      const { runWorker } = await import('./workers/worker.ts');
      return await runWorker(options, role);
    }
    const count = workerCount(options.workers);
    const starting =
      count === 1
        ? startService(options)
        : import('./workers/supervisor.ts').then(({ startWorkers }) => startWorkers(options, count));
    stopOnSignals(starting, { expectedErrors });
    await starting;
  } catch (error) {
    endWithFault(error, expectedErrors);
  }
}

/** @throws {StartError} where there cannot be so many */
function workerCount(workers: RunOptions['workers'] = 1): number {
  const canShare = process.platform === 'linux';
  if (workers === 'auto') return canShare ? availableParallelism() : 1;
  if (!Number.isInteger(workers) || workers < 1) {
    throw new StartError(`workers is ${workers}; it must be a positive integer or "auto".`);
  }
  if (workers > 1 && !canShare) {
    throw new StartError(
      `workers is ${workers}: only Linux distributes the connections of a port to several processes. Use "auto".`,
    );
  }
  return workers;
}
