import { inTime } from '../inTime.ts';

/** How long a transaction accepts jobs, in milliseconds: it blocks the event loop and holds the lock of all processes. */
const transactionMs = 5;

/** The LMDB file whose transactions a group commit runs. */
export interface CommitFile {
  /** Called before each transaction. Throws or rejects if LMDB cannot begin one: its promise would never settle. */
  readonly check: () => void | Promise<void>;
  /** Runs jobs in a write transaction, until on disk. */
  readonly transact: (runJobs: () => void) => Promise<unknown>;
  /** Called when a transaction is on disk. Throws if its data is lost nevertheless, such as with a removed file. */
  readonly onCommitted?: () => void;
  /** Whether an error rejects its job alone, which wrote nothing. Others roll back all. Default: no error. */
  readonly isRejection?: (error: unknown) => boolean;
  /** Maps the error of a transaction, for its jobs. If it throws, they get the error itself. */
  readonly toError?: (error: unknown) => unknown;
}

/** When jobs are rejected, and how: the disk hangs, or a process that holds the write lock was stopped. */
export interface CommitTimeout {
  /**
   * How long each job waits from its call, in milliseconds. One that has not begun by then never runs, which bounds the queue
   * even if transactions are slow but end. The timer does not keep the process alive.
   */
  readonly timeoutMs: number;
  /** Error of jobs that have not started, and never will. */
  readonly notStarted: () => Error;
  /** Error of jobs that may still be stored. Default: the same. */
  readonly started?: (notStarted: Error) => Error;
}

/** How often the time of jobs is checked while a transaction runs, in parts of the timeout. */
const checksPerTimeout = 20;

interface Job {
  /** When `write` was called, on the clock of `performance`. */
  readonly queuedAt: number;
  readonly signal: AbortSignal | undefined;
  /** Runs the job. Returns a function that settles its promise; call it after the commit. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A group commit: waiting jobs share one transaction and one flush, so throughput grows with concurrency. Meanwhile the next
 * group is collected. No lock is held across an await: jobs are synchronous, and lmdb's writer thread does the rest.
 */
export class GroupCommit {
  readonly #file: CommitFile;
  readonly #timeout: CommitTimeout;
  #waiting: Job[] = [];
  /** Jobs of the current transaction. */
  #started: Job[] = [];
  #running: Promise<void> | undefined = undefined;
  #stuck: Error | undefined = undefined;

  constructor(file: CommitFile, timeout: CommitTimeout) {
    this.#file = file;
    this.#timeout = timeout;
  }

  /** Error of jobs whose time has passed while a transaction runs, until that ends; `undefined` if none has. */
  get stuck(): Error | undefined {
    return this.#stuck;
  }

  /**
   * Runs a job inside a write transaction and resolves with its result when the transaction is on disk.
   * @param job synchronous. It may run long after the call, and reads the newest state
   * @param signal skips a job that has not started
   */
  write<T>(job: () => T, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        const result = job();
        return () => resolve(result);
      };
      this.#waiting.push({ queuedAt: performance.now(), run, reject, signal });
      this.#running ??= this.#commitAll();
    });
  }

  /** Resolves with whether all jobs have settled: when they have, or after a time, in milliseconds. Default: any time. */
  async idle(timeoutMs?: number): Promise<boolean> {
    const settled = Promise.resolve(this.#running).then(() => true);
    return timeoutMs === undefined ? settled : ((await inTime(settled, timeoutMs)) ?? false);
  }

  /** Rejects all jobs. Those that have not started never run, so they are known not to be stored. */
  rejectAll(notStarted: Error): void {
    rejectJobs(this.#takeWaiting(), notStarted);
    rejectJobs(this.#started, this.#startedError(notStarted));
  }

  async #commitAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) await this.#commit();
    } finally {
      this.#running = undefined;
    }
  }

  async #commit(): Promise<void> {
    const settleJobs: (() => void)[] = [];
    // Repeated: the time of each job passes at another moment, also of those that come while the transaction is stuck.
    const timer = setInterval(() => this.#rejectLate(), this.#timeout.timeoutMs / checksPerTimeout).unref();
    try {
      await this.#file.check();
      await this.#file.transact(() => {
        const until = performance.now() + transactionMs;
        do {
          const job = this.#nextJob();
          if (job === undefined) break;
          this.#started.push(job);
          settleJobs.push(this.#run(job));
        } while (performance.now() < until);
      });
      this.#file.onCommitted?.();
      for (const settle of settleJobs) settle();
    } catch (error) {
      const cause = await commitCause(error);
      // If the transaction could not begin, its jobs would wait forever.
      if (this.#started.length === 0) this.#started = this.#takeWaiting();
      rejectJobs(this.#started, await this.#toError(cause));
    } finally {
      clearInterval(timer);
      this.#stuck = undefined;
      this.#started = [];
    }
  }

  /** Takes the next job from the queue. Late ones are rejected: the event loop may have been blocked, and no timer has fired. */
  #nextJob(): Job | undefined {
    let job = this.#waiting.shift();
    for (; job && this.#isLate(job); job = this.#waiting.shift()) job.reject(this.#timeout.notStarted());
    return job;
  }

  /** Rejects the jobs whose time has passed. */
  #rejectLate(): void {
    const isLate = (job: Job) => this.#isLate(job);
    const [waiting, started] = [this.#waiting.filter(isLate), this.#started.filter(isLate)];
    if (waiting.length + started.length === 0) return;
    const notStarted = this.#timeout.notStarted();
    this.#stuck = notStarted;
    // The oldest are first.
    this.#waiting.splice(0, waiting.length);
    rejectJobs(waiting, notStarted);
    rejectJobs(started, this.#startedError(notStarted));
  }

  #isLate({ queuedAt }: Job): boolean {
    return performance.now() - queuedAt >= this.#timeout.timeoutMs;
  }

  #startedError(notStarted: Error): Error {
    return this.#timeout.started?.(notStarted) ?? notStarted;
  }

  async #toError(cause: unknown): Promise<unknown> {
    try {
      return this.#file.toError === undefined ? cause : await this.#file.toError(cause);
    } catch {
      return cause;
    }
  }

  #run({ signal, run, reject }: Job): () => void {
    // The caller has aborted, and the job has not started.
    if (signal?.aborted) return () => reject(signal.reason);
    try {
      return run();
    } catch (error) {
      if (this.#file.isRejection?.(error) !== true) throw error;
      return () => reject(error);
    }
  }

  #takeWaiting(): Job[] {
    return this.#waiting.splice(0);
  }
}

function rejectJobs(jobs: readonly Job[], reason: unknown): void {
  for (const job of jobs) job.reject(reason);
}

/** Returns the cause of a failed commit, which lmdb 3.5.6 puts in a promise. Unread, it is an unhandled rejection. */
async function commitCause(reason: unknown): Promise<unknown> {
  if (!(reason instanceof Error) || !('commitError' in reason)) return reason;
  try {
    await reason.commitError;
    return reason;
  } catch (cause) {
    return cause;
  }
}
