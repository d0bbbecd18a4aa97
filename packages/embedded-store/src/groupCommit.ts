import { StoreError } from '@petstore/core/store';
import { GroupCommit } from 'trpc-gateway-shared/lmdb';
import { toCommitError, toReadError } from './errors.ts';
import type { DataFolder } from './folder.ts';

/** A longer commit counts as stuck: the disk hangs, or a process that holds the write lock was stopped. */
const COMMIT_TIMEOUT_MS = 10_000;

export interface FolderCommits {
  /**
   * Runs a job inside a write transaction and resolves with its result when the transaction is on disk.
   * @param job synchronous. It may run long after the call, and reads the newest state. To reject, it throws a StoreError
   *   before it writes anything.
   * @param signal skips a job that has not started
   */
  readonly write: <T>(job: () => T, signal?: AbortSignal) => Promise<T>;
  /** Returns why writes are blocked at the moment, or `undefined`. */
  readonly error: () => Error | undefined;
  /**
   * Resolves when all accepted writes have settled.
   * @throws {StoreError} `outcome-unknown` if one has not settled by the deadline. Then all writes are rejected
   */
  readonly idle: (timeoutMs?: number) => Promise<void>;
}

/** Creates the group commit of a data folder. A fatal error of LMDB, or a folder that was removed, ends it. */
export function createGroupCommit({ root, meta, path: dataDir, watch }: DataFolder): FolderCommits {
  const commits = new GroupCommit(
    {
      // After a fatal error LMDB cannot begin a transaction, and its promise never settles.
      check: () => rejectIf(watch.fatal()),
      transact: (runJobs) => root.childTransaction(runJobs),
      onCommitted() {
        const fatal = watch.check();
        if (fatal !== undefined) throw new StoreError('outcome-unknown', fatal.message, { cause: fatal });
      },
      isRejection: (error) => error instanceof StoreError,
      toError(error) {
        checkFatal();
        return toCommitError(error, dataDir);
      },
    },
    {
      timeoutMs: COMMIT_TIMEOUT_MS,
      limits: 'transaction',
      notStarted: () =>
        new StoreError(
          'unavailable',
          `The data folder ${dataDir} has not completed a write for ${COMMIT_TIMEOUT_MS / 1000} s: its disk hangs, or a process that shares it is suspended.`,
        ),
      started: ({ message }) =>
        new StoreError('outcome-unknown', `${message} The write may still be stored.`),
    },
  );

  /** Finds out whether a disk error has made LMDB unusable. LMDB reports that on the next read. */
  function checkFatal(): void {
    if (watch.fatal() !== undefined) return;
    try {
      root.resetReadTxn();
      meta.get('format');
    } catch (error) {
      watch.recordFatal(toReadError(error, dataDir));
    }
  }

  return {
    async write(job, signal) {
      rejectIf(watch.fatal() ?? commits.stuck);
      return commits.write(job, signal);
    },
    error: () => commits.stuck,
    async idle(timeoutMs) {
      if ((await commits.idle(timeoutMs)) || timeoutMs === undefined) return;
      const why = `The data folder ${dataDir} was closed, but a write did not complete within ${timeoutMs / 1000} s: its disk hangs, or a process that shares it is suspended.`;
      commits.rejectAll(new StoreError('unavailable', why));
      throw new StoreError('outcome-unknown', why);
    },
  };
}

function rejectIf(error: Error | undefined): void {
  if (error !== undefined) throw error;
}
