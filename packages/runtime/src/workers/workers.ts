import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { NotReadyError } from '../health/healthRoutes.ts';
import type { ServiceLog, ProcessMetrics } from '../parts.ts';
import { StartError } from '../signals/startError.ts';
import type { WorkerResponse, WorkerMessage, WorkerRequest } from './workerMessages.ts';
import { workerEnvironment } from './workerRole.ts';

/** A worker that exits sooner counts as unhealthy, and its replacement may be delayed. */
const shortLifeMs = 10_000;

/** How long the supervisor waits for a worker's response. */
const responseTimeoutMs = 1_000;

/** How long a start waits for the workers after the first one. */
const laterStartMs = 10_000;

export interface WorkersOptions {
  readonly count: number;
  /** The port that the workers share. */
  readonly port: number;
  readonly log: Pick<ServiceLog, 'info' | 'error' | 'fatal'>;
  /** Called with the number of each worker that has ended. */
  readonly onEnded?: (process: number) => void;
  /** Returns the reason why a worker cannot be started again; `undefined` if it can. */
  readonly preventRestart: () => string | undefined;
}

/** The origin of the workers and the name of their adapter. */
type WorkerEndpoint = Omit<Extract<WorkerMessage, { type: 'listening' }>, 'type'>;

interface Worker {
  /** Counts from 1 in the order of starts. */
  readonly number: number;
  readonly child: ChildProcess;
  /** How many predecessors in a row exited within `shortLifeMs`. */
  readonly shortLives: number;
  readonly startedAt: number;
  readonly ended: Promise<void>;
  /** Resolvers of pending requests to the worker, by id. */
  readonly pending: Map<number, (response?: WorkerResponse) => void>;
  isListening: boolean;
  isReplaced: boolean;
}

export interface Workers {
  /**
   * Starts the workers. The first one starts alone: if it cannot start, none can. When the promise resolves, each of the
   * others listens, has ended and is being replaced, or is still starting after 10 s.
   * @param onFirst called when the first worker listens
   * @returns the origin of the workers and the name of their adapter
   * @throws {Error} with a message for operators if the first worker cannot start
   */
  start(onFirst: () => void): Promise<WorkerEndpoint>;
  /** Makes each worker reload its certificate. */
  reload(): void;
  /** Kills all workers. */
  kill(): void;
  /**
   * Stops all workers gracefully and replaces none.
   * @returns how many workers were killed at the deadline or exited with an error
   */
  stop(deadlineMs: number): Promise<number>;
  /** Reads the metrics of each worker that listens. */
  metrics(): Promise<ProcessMetrics[]>;
  /**
   * Resolves if at least one worker is ready.
   * @throws {NotReadyError} with the reason of the first worker that is not ready
   */
  ready(): Promise<void>;
  /** Resolves with the reason if a worker that has ended cannot be replaced. */
  readonly fatalError: Promise<Error>;
}

/**
 * Manages worker processes that run the same program with the same arguments, and replaces those that exit. Based on
 * `node:child_process` instead of `node:cluster`: uWebSockets.js opens its own socket, and the kernel distributes the
 * connections.
 */
export function createWorkers({ count, port, log, onEnded, preventRestart }: WorkersOptions): Workers {
  const workers = new Set<Worker>();
  let requestCount = 0;
  let startedCount = 0;
  let reloadedAt = -Infinity;
  /** True once the first worker listens. */
  let hasStarted = false;
  let isStopping = false;
  const { promise: fatalError, resolve: reportFatalError } = Promise.withResolvers<Error>();

  /** Starts a worker and resolves when it listens. */
  function launch(shortLives: number): Promise<WorkerEndpoint> {
    const [, program = '', ...args] = process.argv;
    const child = fork(program, args, { env: workerEnvironment({ port, isFirst: !hasStarted }) });
    const worker: Worker = {
      number: ++startedCount,
      child,
      shortLives,
      startedAt: performance.now(),
      ended: childEnd(child),
      pending: new Map(),
      isListening: false,
      isReplaced: false,
    };
    workers.add(worker);
    const listening = new Promise<WorkerEndpoint>((resolve, reject) => {
      let reason: string | undefined;
      // Node does not type messages. The sender is a worker of the same version.
      child.on('message', (message: WorkerMessage) => {
        switch (message.type) {
          case 'listening':
            worker.isListening = true;
            // It may have loaded the certificate before the reload.
            if (reloadedAt > worker.startedAt) child.kill('SIGHUP');
            return resolve({ origin: message.origin, server: message.server });
          case 'failed':
            reason = message.message;
            return;
          case 'stopping':
            return replace(worker);
          case 'metrics':
          case 'ready':
            return worker.pending.get(message.id)?.(message);
        }
      });
      void worker.ended.then(() => {
        workers.delete(worker);
        for (const settle of worker.pending.values()) settle();
        onEnded?.(worker.number);
        const { exitCode: code, signalCode: signal } = child;
        // A worker that stops gracefully logs that itself, and the start reports a first worker that cannot start.
        if (hasStarted && (!isStopping || code !== 0)) {
          const level = code === 0 ? 'info' : 'error';
          log[level]({ worker: child.pid, code, signal, reason }, 'worker exited');
        }
        replace(worker);
        const exitStatus = signal === null ? `code ${code}` : `signal ${signal}`;
        reject(new Error(reason ?? `A worker exited before it was listening, with ${exitStatus}.`));
      });
    });
    // Workers that are started later report errors to the log only.
    listening.catch(() => {});
    return listening;
  }

  function replace(worker: Worker): void {
    if (isStopping || !hasStarted || worker.isReplaced) return;
    worker.isReplaced = true;
    const reason = preventRestart();
    if (reason !== undefined) {
      log.fatal(reason);
      return reportFatalError(new StartError(reason));
    }
    const isShort = performance.now() - worker.startedAt < shortLifeMs;
    const shortLives = isShort ? worker.shortLives + 1 : 0;
    setTimeout(() => {
      if (!isStopping) void launch(shortLives);
    }, replacementDelayMs(shortLives));
  }

  async function start(onFirst: () => void): Promise<WorkerEndpoint> {
    let first: WorkerEndpoint;
    try {
      first = await launch(0);
    } catch (error) {
      isStopping = true;
      await killAll();
      throw error;
    }
    hasStarted = true;
    onFirst();
    const later = Promise.allSettled(Array.from({ length: count - 1 }, () => launch(0)));
    // A worker that hangs must not delay the report that the others serve.
    await Promise.race([later, sleep(laterStartMs, undefined, { ref: false })]);
    return first;
  }

  const signal = (to: Iterable<Worker>, name: NodeJS.Signals) => {
    for (const { child } of to) child.kill(name);
  };

  function reload(): void {
    reloadedAt = performance.now();
    // A worker that is starting has no listener yet, and the signal would end it.
    signal(
      [...workers].filter(({ isListening }) => isListening),
      'SIGHUP',
    );
  }

  const kill = () => signal(workers, 'SIGKILL');

  async function killAll(): Promise<void> {
    kill();
    await Promise.all([...workers].map(({ ended }) => ended));
  }

  async function stop(deadlineMs: number): Promise<number> {
    isStopping = true;
    const stopped = [...workers];
    signal(workers, 'SIGTERM');
    const haveAllEnded = await Promise.race([
      Promise.all(stopped.map(({ ended }) => ended)).then(() => true),
      sleep(deadlineMs, false, { ref: false }),
    ]);
    if (!haveAllEnded) await killAll();
    // A worker that was still starting had no signal listener: its exit status does not count.
    return stopped.filter(({ child, isListening }) => isListening && child.exitCode !== 0).length;
  }

  /**
   * Sends a request to a worker. Without a `Promise.race` with `ended`, which would retain every response for the life of the
   * worker (V8).
   * @returns `undefined` if the worker does not respond in time or has ended
   */
  function request(
    { pending, child }: Worker,
    type: WorkerRequest['type'],
  ): Promise<WorkerResponse | undefined> {
    const id = ++requestCount;
    return new Promise((resolve) => {
      const settle = (received?: WorkerResponse) => {
        clearTimeout(timer);
        pending.delete(id);
        resolve(received);
      };
      const timer = setTimeout(settle, responseTimeoutMs).unref();
      pending.set(id, settle);
      child.send({ type, id } satisfies WorkerRequest, () => {});
    });
  }

  async function metrics(): Promise<ProcessMetrics[]> {
    const reports = [...workers]
      .filter(({ isListening }) => isListening)
      .map(async (worker) => {
        const response = await request(worker, 'metrics');
        return response?.type === 'metrics' && response.metrics !== null
          ? [{ process: worker.number, metrics: response.metrics }]
          : [];
      });
    return (await Promise.all(reports)).flat();
  }

  async function ready(): Promise<void> {
    // A worker that is being replaced is stopping and accepts no connections.
    const serving = [...workers].filter(({ isListening, isReplaced }) => isListening && !isReplaced);
    const responses = await Promise.all(serving.map((worker) => request(worker, 'ready')));
    const reasons = responses.flatMap((response) => (response?.type === 'ready' ? [response.reason] : []));
    if (!reasons.includes(null)) throw new NotReadyError(reasons[0] ?? 'unavailable');
  }

  return { start, reload, kill, stop, metrics, ready, fatalError };
}

/**
 * Returns the delay before a worker is replaced, in milliseconds. It is 0 after a worker that lived long and after the first
 * short life. Then it starts at 100 ms and doubles up to 10 s.
 */
const replacementDelayMs = (shortLives: number): number =>
  shortLives < 2 ? 0 : Math.min(100 * 2 ** (shortLives - 2), 10_000);

/** Resolves when a child process has exited or could not be started. */
async function childEnd(child: ChildProcess): Promise<void> {
  await Promise.race([once(child, 'exit'), new Promise((resolve) => child.once('error', resolve))]);
}
