import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../storeError.ts';
import { toCommitError, toReadError } from './errors.ts';
import type { DataFolder } from './folder.ts';

/** How long a transaction accepts jobs, in milliseconds: it blocks the event loop and holds the write lock of all processes. */
const TRANSACTION_MS = 5;

/** A longer commit counts as stuck: the disk hangs, or a process that holds the write lock was stopped. */
const COMMIT_TIMEOUT_MS = 10_000;

/**
 * Runs a job inside a write transaction and resolves with its result when the transaction is on disk.
 * @param job synchronous. It may run long after the call, and reads the newest state. To reject, it throws a StoreError
 *   before it writes anything.
 * @param signal skips a job that has not started
 */
type Write = <T>(job: () => T, signal?: AbortSignal) => Promise<T>;

export interface GroupCommit {
  readonly write: Write;
  /** Returns why writes are blocked at the moment, or `undefined`. */
  readonly error: () => StoreError | undefined;
  /**
   * Resolves when all accepted writes have settled.
   * @throws {StoreError} `outcome-unknown` if one has not settled by the deadline. Then all writes are rejected
   */
  readonly idle: (deadlineMs?: number) => Promise<void>;
}

interface Job {
  readonly signal: AbortSignal | undefined;
  /** Runs the job. Returns a function that settles its promise; call it after the commit. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Creates a group commit: all pending writes share one transaction and one flush, so throughput grows with concurrency.
 * While one group is written to disk, the next one is collected. No lock is held across an await: jobs are synchronous, and
 * lmdb's writer thread does the rest.
 *
 * The state folder of `trpc-gateway-runtime` has a group commit of its own: neither package imports the other, and it opens its
 * file again after an error of the disk, which is fatal here.
 */
export function createGroupCommit({ root, meta, path: dataDir, watch }: DataFolder): GroupCommit {
  const waiting: Job[] = [];
  /** Jobs of the current transaction. */
  let started: Job[] = [];
  let running: Promise<void> | undefined;
  let stuck: StoreError | undefined;

  const write: Write = (job, signal) =>
    new Promise((resolve, reject) => {
      const error = watch.fatal() ?? stuck;
      if (error !== undefined) throw error;
      const run = () => {
        const result = job();
        return () => resolve(result);
      };
      waiting.push({ run, reject, signal });
      running ??= commitAll();
    });

  async function commitAll() {
    while (waiting.length > 0) await commitGroup();
    running = undefined;
  }

  async function commitGroup() {
    const fatal = watch.fatal();
    // After a fatal error LMDB cannot begin a transaction, and its promise never settles.
    if (fatal !== undefined) return rejectAll(waiting.splice(0), fatal);
    const settleJobs: (() => void)[] = [];
    const timer = setTimeout(() => {
      stuck = new StoreError(
        'unavailable',
        `The data folder ${dataDir} has not completed a write for ${COMMIT_TIMEOUT_MS / 1000} s: its disk hangs, or a process that shares it is suspended.`,
      );
      rejectWrites(stuck);
    }, COMMIT_TIMEOUT_MS);
    try {
      // A child transaction: only this can be rolled back as a whole if lmdb fails in the middle of a job.
      await root.childTransaction(() => {
        const until = performance.now() + TRANSACTION_MS;
        do {
          const job = waiting.shift();
          if (job === undefined) break;
          started.push(job);
          settleJobs.push(runJob(job));
        } while (performance.now() < until);
      });
      const fatalError = watch.check();
      if (fatalError !== undefined)
        throw new StoreError('outcome-unknown', fatalError.message, { cause: fatalError });
      for (const each of settleJobs) each();
    } catch (error) {
      checkFatal();
      // If the transaction could not begin, its jobs would wait forever.
      if (started.length === 0) started.push(...waiting.splice(0));
      rejectAll(started, await toCommitError(error, dataDir));
    } finally {
      clearTimeout(timer);
      stuck = undefined;
      started = [];
    }
  }

  /** Finds out whether a disk error has made LMDB unusable. LMDB reports that on the next read. */
  function checkFatal(): void {
    try {
      root.resetReadTxn();
      meta.get('format');
    } catch (error) {
      watch.recordFatal(toReadError(error, dataDir));
    }
  }

  /** Rejects all writes. Jobs that have not started never run, so they are known not to be stored. */
  function rejectWrites(reason: StoreError): void {
    rejectAll(waiting.splice(0), reason);
    rejectAll(started, new StoreError('outcome-unknown', `${reason.message} The write may still be stored.`));
  }

  async function idle(deadlineMs?: number): Promise<void> {
    if (running === undefined || deadlineMs === undefined) return running;
    const isInTime = await Promise.race([running.then(() => true), delay(deadlineMs, false, { ref: false })]);
    if (isInTime) return;
    const why = `The data folder ${dataDir} was closed, but a write did not complete within ${deadlineMs / 1000} s: its disk hangs, or a process that shares it is suspended.`;
    rejectWrites(new StoreError('unavailable', why));
    throw new StoreError('outcome-unknown', why);
  }

  return { write, error: () => stuck, idle };
}

function runJob({ signal, run, reject }: Job): () => void {
  // The caller has aborted, and the job has not started.
  if (signal?.aborted) return () => reject(signal.reason);
  try {
    return run();
  } catch (error) {
    if (error instanceof StoreError) return () => reject(error);
    throw error;
  }
}

function rejectAll(jobs: readonly Job[], reason: StoreError): void {
  for (const job of jobs) job.reject(reason);
}
