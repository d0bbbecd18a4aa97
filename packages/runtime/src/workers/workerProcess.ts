import { type ChildProcess, fork } from 'node:child_process';
import type { ServiceLog } from '../parts.ts';
import type { WorkerMessage, WorkerRequest, WorkerResponse } from './workerMessages.ts';

/** How long the supervisor waits for a worker's response. */
const responseTimeoutMs = 1_000;

/** Interval of the pings of workers. */
export const pingEveryMs = 2_000;

/** A worker silent for this many pings (10 s) hangs. Not a time: after a suspension, no worker is late. */
const maxMissedPings = 5;

/** The origin of the workers and the name of their adapter. */
export type WorkerEndpoint = Omit<Extract<WorkerMessage, { type: 'listening' }>, 'type'>;

export interface WorkerProcessOptions {
  /** Counts from 1 in the order of starts. */
  readonly number: number;
  readonly env: NodeJS.ProcessEnv;
  readonly log: ServiceLog;
  readonly onListening: () => void;
  readonly onStopping: () => void;
  /** Called when the worker has ended. */
  readonly onEnded: () => void;
}

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The reason that the worker sent. */
  readonly reason: string | undefined;
}

/** A worker process that runs the same program with the same arguments. */
export class WorkerProcess {
  readonly number: number;
  readonly startedAt: number;
  /** Resolves when the process has exited or could not be started. */
  readonly ended: Promise<void>;
  readonly #options: WorkerProcessOptions;
  readonly #child: ChildProcess;
  readonly #start = Promise.withResolvers<WorkerEndpoint>();
  /** Resolves when the worker listens. Rejects if it ends before. */
  readonly listening = this.#start.promise;
  /** Resolvers of pending requests to the worker, by id. */
  readonly #pending = new Map<number, (response?: WorkerResponse) => void>();
  #requestCount = 0;
  #isListening = false;
  /** Number of pings since its last message. */
  #missedPings = 0;
  #reason: string | undefined;

  constructor(options: WorkerProcessOptions) {
    const [, program = '', ...args] = process.argv;
    this.number = options.number;
    this.#options = options;
    this.#child = fork(program, args, { env: options.env });
    this.startedAt = performance.now();
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', () => resolve()).once('error', () => resolve());
    });
    // Node does not type messages. The sender is a worker of the same version.
    this.#child.on('message', (message: WorkerMessage) => this.#receive(message));
    void this.ended.then(() => this.#end());
    // Workers that are started later report errors to the log only.
    this.listening.catch(() => {});
  }

  get isListening(): boolean {
    return this.#isListening;
  }

  get isResponding(): boolean {
    return this.#missedPings <= maxMissedPings;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The exit status of a worker that has ended. */
  get exit(): WorkerExit {
    const { exitCode: code, signalCode: signal } = this.#child;
    return { code, signal, reason: this.#reason };
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  ping(): void {
    // The first ping stays in the pipe of a worker that hangs: more would only fill it.
    if (this.#missedPings === 0) this.#send({ type: 'ready', id: ++this.#requestCount });
    this.#missedPings += 1;
    if (this.#missedPings !== maxMissedPings + 1) return;
    const what = this.#isListening ? 'responded' : 'started';
    this.#options.log.error(
      { worker: this.pid },
      `worker has not ${what} for ${(maxMissedPings * pingEveryMs) / 1000} s`,
    );
  }

  /**
   * Sends a request to the worker. A `Promise.race` with `ended` would retain every response for its life (V8).
   * @returns `undefined` if the worker does not respond in time or has ended
   */
  request(type: WorkerRequest['type']): Promise<WorkerResponse | undefined> {
    const id = ++this.#requestCount;
    return new Promise((resolve) => {
      const settle = (received?: WorkerResponse) => {
        clearTimeout(timer);
        this.#pending.delete(id);
        resolve(received);
      };
      const timer = setTimeout(settle, responseTimeoutMs).unref();
      this.#pending.set(id, settle);
      this.#send({ type, id });
    });
  }

  #send(message: WorkerRequest): void {
    // The callback takes the error of a worker that has ended.
    this.#child.send(message, () => {});
  }

  #receive(message: WorkerMessage): void {
    const { log, onListening, onStopping } = this.#options;
    if (this.#isListening && !this.isResponding) log.info({ worker: this.pid }, 'worker responds again');
    this.#missedPings = 0;
    switch (message.type) {
      case 'listening':
        this.#isListening = true;
        onListening();
        return this.#start.resolve(message);
      case 'failed':
        this.#reason = message.message;
        return;
      case 'stopping':
        return onStopping();
      case 'metrics':
      case 'ready':
        return this.#pending.get(message.id)?.(message);
    }
  }

  #end(): void {
    for (const settle of this.#pending.values()) settle();
    this.#options.onEnded();
    const { code, signal, reason } = this.exit;
    const exitStatus = signal === null ? `code ${code}` : `signal ${signal}`;
    this.#start.reject(new Error(reason ?? `A worker exited before it was listening, with ${exitStatus}.`));
  }
}
