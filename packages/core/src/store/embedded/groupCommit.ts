import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../storeError.ts';
import { toCommitError, toReadError } from './errors.ts';
import type { DataFolder } from './folder.ts';

/** For how long one transaction takes in jobs: it holds the event loop, and the lock of all processes. */
const TRANSACTION_MS = 5;

/** After this a commit is stuck: the disk hangs, or a process that holds the write lock was stopped. */
const COMMIT_TIMEOUT_MS = 10_000;

/**
 * Runs a job inside a write transaction and resolves with its result when that is on disk.
 * @param job may run long after the call, synchronously; what it reads is the newest state. It refuses by throwing a
 *   StoreError, and must do so before it writes.
 */
type Write = <T>(job: () => T, signal?: AbortSignal) => Promise<T>;

export interface GroupCommit {
  readonly write: Write;
  /** Why nothing can be written now; `undefined` while all is well. */
  readonly error: () => StoreError | undefined;
  /**
   * Resolves when every write that was accepted has settled.
   * @throws {StoreError} `outcome-unknown` where one has not by the deadline: every write is rejected then
   */
  readonly idle: (deadlineMs?: number) => Promise<void>;
}

interface Job {
  readonly signal: AbortSignal | undefined;
  /** Runs it; what it returns settles its promise, and is called after the commit. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Group commit: all writes that wait share one transaction and one flush, so throughput grows with concurrency. While
 * one commit is on its way to the disk the next group gathers. No lock is held across an await: jobs are synchronous,
 * and lmdb's writer thread does the rest.
 */
export function createGroupCommit({ root, meta, path: dataDir, watch }: DataFolder): GroupCommit {
  const waiting: Job[] = [];
  /** Those of the group that is being committed. */
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
    // LMDB never ends a transaction that it cannot even begin.
    if (fatal !== undefined) return rejectAll(waiting.splice(0), fatal);
    const settleJobs: (() => void)[] = [];
    const timer = setTimeout(() => {
      stuck = new StoreError(
        'unavailable',
        `The data folder ${dataDir} has not taken a write for ${COMMIT_TIMEOUT_MS / 1000} s: its disk hangs, or a process that shares it was stopped.`,
      );
      rejectWrites(stuck);
    }, COMMIT_TIMEOUT_MS);
    try {
      // A child transaction, since only that can be undone as a whole where lmdb fails in the middle of a job.
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
      // Where the transaction could not even begin, whoever waits would wait for ever.
      if (started.length === 0) started.push(...waiting.splice(0));
      rejectAll(started, await toCommitError(error, dataDir));
    } finally {
      clearTimeout(timer);
      stuck = undefined;
      started = [];
    }
  }

  /** An error of the disk may leave LMDB unable to do anything at all. It says so at the next read. */
  function checkFatal(): void {
    try {
      root.resetReadTxn();
      meta.get('format');
    } catch (error) {
      watch.recordFatal(toReadError(error, dataDir));
    }
  }

  /** Rejects every write. What has not started is never run: it is known that nothing of it was stored. */
  function rejectWrites(reason: StoreError): void {
    rejectAll(waiting.splice(0), reason);
    rejectAll(started, new StoreError('outcome-unknown', `${reason.message} The write may still be stored.`));
  }

  async function idle(deadlineMs?: number): Promise<void> {
    if (running === undefined || deadlineMs === undefined) return running;
    const isInTime = await Promise.race([running.then(() => true), delay(deadlineMs, false, { ref: false })]);
    if (isInTime) return;
    const why = `The data folder ${dataDir} was closed, but a write has not ended within ${deadlineMs / 1000} s: its disk hangs, or a process that shares it was stopped.`;
    rejectWrites(new StoreError('unavailable', why));
    throw new StoreError('outcome-unknown', why);
  }

  return { write, error: () => stuck, idle };
}

function runJob({ signal, run, reject }: Job): () => void {
  // Nobody waits for it any more, and nothing of it was begun.
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
