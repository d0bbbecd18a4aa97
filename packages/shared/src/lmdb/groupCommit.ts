import { inTime } from '../inTime.ts';

/** How long a transaction accepts jobs, in milliseconds: it blocks the event loop and holds the lock of all processes. */
const transactionMs = 5;

/** The LMDB file whose transactions a group commit runs. */
export interface CommitFile {
  /** Called before each transaction. Throws or rejects if LMDB cannot begin one: its promise would never settle. */
  readonly check: () => void | Promise<void>;
  /** Runs jobs in a child transaction, until on disk. Only a child rolls back if lmdb fails inside a job. */
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
  readonly timeoutMs: number;
  /**
   * - `job`: each job has this time from its call. One that has not begun by then never runs, which bounds the queue even if
   *   transactions are slow but end. The timer does not keep the process alive.
   * - `transaction`: each transaction has this time, and jobs wait for it as long as they must. If the time passes, all jobs
   *   are rejected. The timer keeps the process alive.
   */
  readonly limits: 'job' | 'transaction';
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

  /** Error of the jobs of a transaction that has passed its time limit, until it ends; `undefined` if none has. */
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
    const timer = this.#startTimer();
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

  /** Starts the timer of a transaction. It is repeated: jobs may come while the transaction is stuck. */
  #startTimer(): NodeJS.Timeout {
    const { limits, timeoutMs, notStarted } = this.#timeout;
    if (limits === 'job') return setInterval(() => this.#rejectLate(), timeoutMs / checksPerTimeout).unref();
    return setInterval(() => {
      this.#stuck = notStarted();
      this.rejectAll(this.#stuck);
    }, timeoutMs);
  }

  /** Takes the next job from the queue. Late ones are rejected: the event loop may have been blocked, and no timer has fired. */
  #nextJob(): Job | undefined {
    if (this.#timeout.limits === 'job') this.#rejectLateWaiting();
    return this.#waiting.shift();
  }

  /** Rejects the jobs whose time has passed. */
  #rejectLate(): void {
    this.#rejectLateWaiting();
    const late = this.#started.filter((job) => this.#isLate(job));
    if (late.length > 0) rejectJobs(late, this.#startedError(this.#timeout.notStarted()));
  }

  #rejectLateWaiting(): void {
    // The oldest are first.
    const first = this.#waiting.findIndex((job) => !this.#isLate(job));
    const late = this.#waiting.splice(0, first === -1 ? this.#waiting.length : first);
    if (late.length > 0) rejectJobs(late, this.#timeout.notStarted());
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
