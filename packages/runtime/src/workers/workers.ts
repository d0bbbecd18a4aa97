import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { NotReadyError } from '../health/healthRoutes.ts';
import type { ServiceLog, GatheredMetrics } from '../parts.ts';
import { StartError } from '../signals/startError.ts';
import type { ReceivedResponse, FromWorker, ToWorker } from './workerMessages.ts';
import { workerEnvironment } from './workerRole.ts';

/** A worker that lived for less was not well: its replacement may wait. In milliseconds. */
const shortLifeMs = 10_000;

/** How long a worker may take to answer its parent, in milliseconds. */
const responseMs = 1_000;

/** For how long a start waits for the workers after the first, in milliseconds. */
const laterStartMs = 10_000;

export interface WorkersOptions {
  readonly count: number;
  /** The port that they share. */
  readonly port: number;
  readonly log: Pick<ServiceLog, 'info' | 'error' | 'fatal'>;
  /** Told the number of each that has ended. */
  readonly onEnded?: (process: number) => void;
  /** What a worker would need that is not there: a sentence; `undefined` where one can be started. */
  readonly missing: () => string | undefined;
}

/** Where workers are reached, and what serves there. */
type Reached = Omit<Extract<FromWorker, { type: 'listening' }>, 'type'>;

interface Worker {
  /** From 1, in the order in which they were started. */
  readonly number: number;
  readonly child: ChildProcess;
  /** How many workers before it, one replacing the other, did not live long. */
  readonly shortLives: number;
  readonly startedAt: number;
  readonly ended: Promise<void>;
  /** What waits for an answer of it, by id. */
  readonly asked: Map<number, (response?: ReceivedResponse) => void>;
  isListening: boolean;
  isReplaced: boolean;
}

export interface Workers {
  /**
   * Starts them: the first alone, since what one cannot do none can. Each of the others listens then, has ended and is
   * being replaced, or is still starting after 10 s.
   * @param onFirst called when the first one listens
   * @returns where they are reached, and what serves there
   * @throws {Error} with a sentence for people, where the first one cannot start
   */
  start(onFirst: () => void): Promise<Reached>;
  /** Has each read its certificate anew. */
  reload(): void;
  /** Ends all of them at once. */
  kill(): void;
  /**
   * Stops all of them in order; none is replaced from then on.
   * @returns how many did not end in order: cut off at the deadline, or with a fault
   */
  stop(deadlineMs: number): Promise<number>;
  /** What each worker that listens has counted. */
  metrics(): Promise<GatheredMetrics[]>;
  /** Resolves where one of them is ready. @throws {NotReadyError} with the reason of the first that is not */
  ready(): Promise<void>;
  /** Resolves with the reason when a worker that has ended cannot be replaced. */
  readonly failed: Promise<Error>;
}

/**
 * Worker processes, each the program of this process with its arguments, that are replaced when they end. `node:child_process`, not `node:cluster`: uWebSockets.js listens by
 * itself, and the kernel deals the connections out.
 */
export function createWorkers({ count, port, log, onEnded, missing }: WorkersOptions): Workers {
  const workers = new Set<Worker>();
  let requestCount = 0;
  let startedCount = 0;
  let reloadedAt = -Infinity;
  /** The first one has listened. */
  let hasStarted = false;
  let isStopping = false;
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();

  /** Resolves when it listens. */
  function launch(shortLives: number): Promise<Reached> {
    const [, program = '', ...args] = process.argv;
    const child = fork(program, args, { env: workerEnvironment({ port, isFirst: !hasStarted }) });
    const worker: Worker = {
      number: ++startedCount,
      child,
      shortLives,
      startedAt: performance.now(),
      ended: ending(child),
      asked: new Map(),
      isListening: false,
      isReplaced: false,
    };
    workers.add(worker);
    const listening = new Promise<Reached>((resolve, reject) => {
      let reason: string | undefined;
      // Node types no messages; these come from our own file, of the same version.
      child.on('message', (message: FromWorker) => {
        switch (message.type) {
          case 'listening':
            worker.isListening = true;
            // It may have read the certificate before.
            if (reloadedAt > worker.startedAt) child.kill('SIGHUP');
            return resolve({ origin: message.origin, server: message.server });
          case 'failed':
            reason = message.message;
            return;
          case 'stopping':
            return replace(worker);
          case 'metrics':
          case 'ready':
            return worker.asked.get(message.id)?.(message);
        }
      });
      void worker.ended.then(() => {
        workers.delete(worker);
        for (const settle of worker.asked.values()) settle();
        onEnded?.(worker.number);
        const { exitCode: code, signalCode: signal } = child;
        // At a stop what ends in order says so itself, and where the first one cannot start, the start does.
        if (hasStarted && (!isStopping || code !== 0)) {
          const level = code === 0 ? 'info' : 'error';
          log[level]({ worker: child.pid, code, signal, reason }, 'worker ended');
        }
        replace(worker);
        const how = signal === null ? `code ${code}` : `signal ${signal}`;
        reject(new Error(reason ?? `A worker ended before it served, with ${how}.`));
      });
    });
    // Of those that are started later the log tells.
    listening.catch(() => {});
    return listening;
  }

  function replace(worker: Worker): void {
    if (isStopping || !hasStarted || worker.isReplaced) return;
    worker.isReplaced = true;
    const reason = missing();
    if (reason !== undefined) {
      log.fatal(reason);
      return fail(new StartError(reason));
    }
    const isShort = performance.now() - worker.startedAt < shortLifeMs;
    const shortLives = isShort ? worker.shortLives + 1 : 0;
    setTimeout(() => {
      if (!isStopping) void launch(shortLives);
    }, replacementDelayMs(shortLives));
  }

  async function start(onFirst: () => void): Promise<Reached> {
    let first: Reached;
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
    // One that hangs must not keep the start of those that serve from being reported.
    await Promise.race([later, sleep(laterStartMs, undefined, { ref: false })]);
    return first;
  }

  const signal = (to: Iterable<Worker>, name: NodeJS.Signals) => {
    for (const { child } of to) child.kill(name);
  };

  function reload(): void {
    reloadedAt = performance.now();
    // One that starts does not know the signal yet, which would end it.
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
    const isOver = await Promise.race([
      Promise.all(stopped.map(({ ended }) => ended)).then(() => true),
      sleep(deadlineMs, false, { ref: false }),
    ]);
    if (!isOver) await killAll();
    // One that was still starting knew no signal yet.
    return stopped.filter(({ child, isListening }) => isListening && child.exitCode !== 0).length;
  }

  /**
   * No `Promise.race` with `ended`: that would keep every answer for as long as the worker lives (V8).
   * @returns `undefined` where it does not answer in time, or has ended
   */
  function request({ asked, child }: Worker, type: ToWorker['type']): Promise<ReceivedResponse | undefined> {
    const id = ++requestCount;
    return new Promise((resolve) => {
      const settle = (received?: ReceivedResponse) => {
        clearTimeout(timer);
        asked.delete(id);
        resolve(received);
      };
      const timer = setTimeout(settle, responseMs).unref();
      asked.set(id, settle);
      child.send({ type, id } satisfies ToWorker, () => {});
    });
  }

  async function metrics(): Promise<GatheredMetrics[]> {
    const told = [...workers]
      .filter(({ isListening }) => isListening)
      .map(async (worker) => {
        const response = await request(worker, 'metrics');
        return response?.type === 'metrics' && response.metrics !== null
          ? [{ process: worker.number, metrics: response.metrics }]
          : [];
      });
    return (await Promise.all(told)).flat();
  }

  async function ready(): Promise<void> {
    // One that is replaced is told to stop: it takes no connection any more.
    const serving = [...workers].filter(({ isListening, isReplaced }) => isListening && !isReplaced);
    const responses = await Promise.all(serving.map((worker) => request(worker, 'ready')));
    const faults = responses.flatMap((response) => (response?.type === 'ready' ? [response.fault] : []));
    if (!faults.includes(null)) throw new NotReadyError(faults[0] ?? 'unavailable');
  }

  return { start, reload, kill, stop, metrics, ready, failed };
}

/**
 * How long the next worker waits, in milliseconds: not at all after one that lived long, nor after the first that did
 * not. Then twice as long each time, up to 10 s.
 */
const replacementDelayMs = (shortLives: number): number =>
  shortLives < 2 ? 0 : Math.min(100 * 2 ** (shortLives - 2), 10_000);

/** Resolves when a child has ended, or could not be started. */
async function ending(child: ChildProcess): Promise<void> {
  await Promise.race([once(child, 'exit'), new Promise((resolve) => child.once('error', resolve))]);
}
