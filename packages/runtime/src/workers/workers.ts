import { setTimeout as sleep } from 'node:timers/promises';
import { NotReadyError } from '../health/healthRoutes.ts';
import { syncResult } from '../hooks.ts';
import type { ProcessMetrics } from '../metrics/metricsPart.ts';
import type { ServiceLog } from '../parts.ts';
import { StartError } from '../signals/endProcess.ts';
import { pingEveryMs, type WorkerEndpoint, WorkerProcess } from './workerProcess.ts';
import { workerEnvironment } from './workerRole.ts';

/** A worker that exits sooner counts as unhealthy, and its replacement may be delayed. */
const shortLifeMs = 10_000;

/** How long a start waits for the workers after the first one. */
const laterStartMs = 10_000;

/** How long a stop waits for workers that are starting. They have no calls. The stop of the service must end within 10 s. */
const startDeadlineMs = 8_000;

export interface WorkersOptions {
  readonly count: number;
  /** The port that the workers share. */
  readonly port: number;
  readonly log: ServiceLog;
  /** Called with the number of each worker that has ended. */
  readonly onEnded?: (process: number) => void;
  /** Returns the reason why a worker cannot be started again; `undefined` if it can. */
  readonly preventRestart: () => string | undefined;
}

interface Worker {
  readonly process: WorkerProcess;
  /** How many predecessors in a row exited within `shortLifeMs`. */
  readonly shortLives: number;
  isReplaced: boolean;
}

/**
 * Manages workers that run the same program with the same arguments, and replaces those that exit. Not
 * `node:cluster`: uWebSockets.js opens its own socket, and the kernel distributes the connections.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #workers = new Set<Worker>();
  readonly #fatalError = Promise.withResolvers<Error>();
  /** Resolves with the reason if a worker that has ended cannot be replaced. */
  readonly fatalError = this.#fatalError.promise;
  #startedCount = 0;
  #reloadedAt = -Infinity;
  /** True once the first worker listens. */
  #hasStarted = false;
  #isStopping = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /**
   * Starts the workers. The first one starts alone: if it cannot start, none can. When the promise resolves, each of the
   * others listens, has ended and is being replaced, or is still starting after 10 s.
   * @param onFirst called when the first worker listens
   * @returns the origin of the workers and the name of their adapter
   * @throws {Error} with a message for operators if the first worker cannot start
   */
  async start(onFirst: () => void): Promise<WorkerEndpoint> {
    setInterval(() => this.#ping(), pingEveryMs).unref();
    let first: WorkerEndpoint;
    try {
      first = await this.#launch(0);
    } catch (error) {
      this.#isStopping = true;
      await this.#killAll();
      throw error;
    }
    this.#hasStarted = true;
    onFirst();
    // A worker that gets SIGTERM while it starts completes its start, then stops.
    if (this.#isStopping) return first;
    const { count } = this.#options;
    const later = Promise.allSettled(Array.from({ length: count - 1 }, () => this.#launch(0)));
    // A worker that hangs must not delay the report that the others serve.
    await Promise.race([later, sleep(laterStartMs, undefined, { ref: false })]);
    return first;
  }

  /** Returns how many workers listen and have responded within the last 10 s. */
  responding(): number {
    return this.#serving().length;
  }

  /** Makes each worker reload its certificate. */
  reload(): void {
    this.#reloadedAt = performance.now();
    // A worker that is starting has no listener yet, and the signal would end it.
    for (const worker of this.#processes()) {
      if (worker.isListening) worker.kill('SIGHUP');
    }
  }

  kill(): void {
    for (const worker of this.#processes()) worker.kill('SIGKILL');
  }

  /**
   * Stops all workers gracefully and replaces none. A worker that is still starting after 8 s is killed.
   * @returns how many workers that listened were killed at the deadline or exited with an error
   */
  async stop(timeoutMs: number): Promise<number> {
    this.#isStopping = true;
    const stopped = this.#processes();
    const allEnded = Promise.all(stopped.map(({ ended }) => ended)).then(() => true);
    for (const worker of stopped) worker.kill('SIGTERM');
    const starting = setTimeout(() => {
      for (const worker of stopped) {
        if (!worker.isListening) worker.kill('SIGKILL');
      }
    }, startDeadlineMs);
    if (!(await Promise.race([allEnded, sleep(timeoutMs, false, { ref: false })]))) await this.#killAll();
    clearTimeout(starting);
    // A worker that was still starting has no calls, and may have had no signal listener: its exit status does not count.
    return stopped.filter(({ exit, isListening }) => isListening && exit.code !== 0).length;
  }

  /** Reads the metrics of each worker that listens. */
  async metrics(): Promise<ProcessMetrics[]> {
    const reports = this.#processes()
      .filter(({ isListening, isResponding }) => isListening && isResponding)
      .map(async (worker) => {
        const response = await worker.request('metrics');
        return response?.type === 'metrics' && response.metrics !== null
          ? [{ process: worker.number, metrics: response.metrics }]
          : [];
      });
    return (await Promise.all(reports)).flat();
  }

  /** Resolves if a worker is ready. @throws {NotReadyError} with the reason of the first that is not */
  async ready(): Promise<void> {
    const responses = await Promise.all(this.#serving().map((worker) => worker.request('ready')));
    const reasons = responses.flatMap((response) => (response?.type === 'ready' ? [response.reason] : []));
    if (!reasons.includes(null)) throw new NotReadyError(reasons[0] ?? 'unavailable');
  }

  /** Starts a worker and resolves when it listens. */
  #launch(shortLives: number): Promise<WorkerEndpoint> {
    const { port, log } = this.#options;
    const process = new WorkerProcess({
      number: ++this.#startedCount,
      env: workerEnvironment({ port, isFirst: !this.#hasStarted }),
      log,
      onListening: () => {
        // The worker may have loaded the certificate before the reload.
        if (this.#reloadedAt > process.startedAt) process.kill('SIGHUP');
      },
      onStopping: () => this.#replace(worker),
      onEnded: () => this.#remove(worker),
    });
    const worker: Worker = { process, shortLives, isReplaced: false };
    this.#workers.add(worker);
    return process.listening;
  }

  /** Removes a worker that has ended, and replaces it. */
  #remove(worker: Worker): void {
    const { log, onEnded } = this.#options;
    const { exit, number, pid } = worker.process;
    this.#workers.delete(worker);
    onEnded?.(number);
    // A worker that stops gracefully logs that itself, and one that was starting ends by the signal. The start reports a
    // first worker that cannot start.
    const isStopped = this.#isStopping && (exit.code === 0 || exit.signal === 'SIGTERM');
    if ((this.#hasStarted || this.#isStopping) && !isStopped) {
      const level = exit.code === 0 ? 'info' : 'error';
      log[level]({ worker: pid, ...exit }, 'worker exited');
    }
    this.#replace(worker);
  }

  #replace(worker: Worker): void {
    const { log, preventRestart } = this.#options;
    if (this.#isStopping || !this.#hasStarted || worker.isReplaced) return;
    worker.isReplaced = true;
    const reason = syncResult('preventRestart', preventRestart, (error) =>
      log.error({ err: error }, 'preventRestart failed, so the worker is replaced'),
    );
    if (reason !== undefined) {
      log.fatal(reason);
      return this.#fatalError.resolve(new StartError(reason));
    }
    const isShort = performance.now() - worker.process.startedAt < shortLifeMs;
    const shortLives = isShort ? worker.shortLives + 1 : 0;
    setTimeout(() => {
      if (!this.#isStopping) void this.#launch(shortLives);
    }, replacementDelayMs(shortLives));
  }

  #ping(): void {
    if (this.#isStopping) return;
    for (const worker of this.#processes()) worker.ping();
  }

  async #killAll(): Promise<void> {
    this.kill();
    await Promise.all(this.#processes().map(({ ended }) => ended));
  }

  #processes(): WorkerProcess[] {
    return Array.from(this.#workers, ({ process }) => process);
  }

  /** A worker that is being replaced is stopping and accepts no connections. */
  #serving(): WorkerProcess[] {
    return [...this.#workers]
      .filter(({ isReplaced, process }) => process.isListening && !isReplaced && process.isResponding)
      .map(({ process }) => process);
  }
}

/** Delay of a replacement, in ms: 0 after a long or the first short life, then 100, doubling up to 10 s. */
const replacementDelayMs = (shortLives: number): number =>
  shortLives < 2 ? 0 : Math.min(100 * 2 ** (shortLives - 2), 10_000);
