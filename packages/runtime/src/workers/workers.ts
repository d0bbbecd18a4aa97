import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { NotReadyError } from '../health/healthRoutes.ts';
import { syncResult } from '../hooks.ts';
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

/** How long a stop waits for workers that are starting. They have no calls. The stop of the service must end within 10 s. */
const startDeadlineMs = 8_000;

/** Interval of the pings of workers. */
const pingEveryMs = 2_000;

/**
 * A worker that has sent nothing for this many pings in a row, 10 s, counts as not responding. Pings instead of a time: after
 * the whole service was suspended, no worker is late.
 */
const maxMissedPings = 5;

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
  /** Number of pings since its last message. */
  missedPings: number;
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
  /** Returns how many workers listen and have responded within the last 10 s. */
  responding(): number;
  /** Makes each worker reload its certificate. */
  reload(): void;
  /** Kills all workers. */
  kill(): void;
  /**
   * Stops all workers gracefully and replaces none. A worker that is still starting after 8 s is killed.
   * @returns how many workers that listened were killed at the deadline or exited with an error
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
      missedPings: 0,
    };
    workers.add(worker);
    const listening = new Promise<WorkerEndpoint>((resolve, reject) => {
      let reason: string | undefined;
      // Node does not type messages. The sender is a worker of the same version.
      child.on('message', (message: WorkerMessage) => {
        if (worker.isListening && !isResponding(worker))
          log.info({ worker: child.pid }, 'worker responds again');
        worker.missedPings = 0;
        switch (message.type) {
          case 'listening':
            worker.isListening = true;
            // It may have loaded the certificate before the reload.
            if (reloadedAt > worker.startedAt) child.kill('SIGHUP');
            return resolve(message);
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
        // A worker that stops gracefully logs that itself, and one that was starting ends by the signal. The start reports a
        // first worker that cannot start.
        const isStopped = isStopping && (code === 0 || signal === 'SIGTERM');
        if ((hasStarted || isStopping) && !isStopped) {
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
    const reason = syncResult('preventRestart', preventRestart, (error) =>
      log.error({ err: error }, 'preventRestart failed, so the worker is replaced'),
    );
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

  const isResponding = ({ missedPings }: Worker) => missedPings <= maxMissedPings;

  function ping(): void {
    if (isStopping) return;
    for (const worker of workers) {
      // The first ping stays in the pipe of a worker that hangs: more would only fill it.
      if (worker.missedPings === 0) send(worker, { type: 'ready', id: ++requestCount });
      worker.missedPings += 1;
      if (worker.missedPings !== maxMissedPings + 1) continue;
      const what = worker.isListening ? 'responded' : 'started';
      log.error(
        { worker: worker.child.pid },
        `worker has not ${what} for ${(maxMissedPings * pingEveryMs) / 1000} s`,
      );
    }
  }

  async function start(onFirst: () => void): Promise<WorkerEndpoint> {
    setInterval(ping, pingEveryMs).unref();
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
    // A worker that gets SIGTERM while it starts completes its start, then stops.
    if (isStopping) return first;
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
    const allEnded = Promise.all(stopped.map(({ ended }) => ended)).then(() => true);
    signal(workers, 'SIGTERM');
    const starting = setTimeout(() => {
      signal(
        stopped.filter(({ isListening }) => !isListening),
        'SIGKILL',
      );
    }, startDeadlineMs);
    if (!(await Promise.race([allEnded, sleep(deadlineMs, false, { ref: false })]))) await killAll();
    clearTimeout(starting);
    // A worker that was still starting has no calls, and may have had no signal listener: its exit status does not count.
    return stopped.filter(({ child, isListening }) => isListening && child.exitCode !== 0).length;
  }

  /**
   * Sends a request to a worker. Without a `Promise.race` with `ended`, which would retain every response for the life of the
   * worker (V8).
   * @returns `undefined` if the worker does not respond in time or has ended
   */
  function request(worker: Worker, type: WorkerRequest['type']): Promise<WorkerResponse | undefined> {
    const { pending } = worker;
    const id = ++requestCount;
    return new Promise((resolve) => {
      const settle = (received?: WorkerResponse) => {
        clearTimeout(timer);
        pending.delete(id);
        resolve(received);
      };
      const timer = setTimeout(settle, responseTimeoutMs).unref();
      pending.set(id, settle);
      send(worker, { type, id });
    });
  }

  // The callback takes the error of a worker that has ended.
  const send = ({ child }: Worker, message: WorkerRequest) => child.send(message, () => {});

  async function metrics(): Promise<ProcessMetrics[]> {
    const reports = [...workers]
      .filter((worker) => worker.isListening && isResponding(worker))
      .map(async (worker) => {
        const response = await request(worker, 'metrics');
        return response?.type === 'metrics' && response.metrics !== null
          ? [{ process: worker.number, metrics: response.metrics }]
          : [];
      });
    return (await Promise.all(reports)).flat();
  }

  /** A worker that is being replaced is stopping and accepts no connections. */
  const serving = () =>
    [...workers].filter((worker) => worker.isListening && !worker.isReplaced && isResponding(worker));

  async function ready(): Promise<void> {
    const responses = await Promise.all(serving().map((worker) => request(worker, 'ready')));
    const reasons = responses.flatMap((response) => (response?.type === 'ready' ? [response.reason] : []));
    if (!reasons.includes(null)) throw new NotReadyError(reasons[0] ?? 'unavailable');
  }

  const responding = () => serving().length;

  return { start, responding, reload, kill, stop, metrics, ready, fatalError };
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
