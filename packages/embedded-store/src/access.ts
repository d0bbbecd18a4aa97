import { type CallOptions, type Store, StoreError } from '@petstore/core/store';
import { GroupCommit, transact } from 'trpc-gateway-shared/lmdb';
import { closed, toCommitError, toReadError } from './errors.ts';
import type { DataFolder } from './folder.ts';

/** A write that takes longer is rejected: the disk hangs, or a process that holds the write lock was stopped. */
const COMMIT_TIMEOUT_MS = 10_000;

/** Reads and writes of an open store, and its end. */
export interface Access extends Pick<Store, 'ready' | 'close'> {
  readonly read: <T>(action: () => T) => T;
  /**
   * Runs a job inside a write transaction and resolves with its result when the transaction is on disk.
   * @param job synchronous. It may run long after the call, and reads the newest state. To reject, it throws a StoreError
   *   before it writes anything.
   */
  readonly write: <T>(job: () => T, callOptions?: CallOptions) => Promise<T>;
}

/** Opens the access to a data folder. A fatal error of LMDB, or a folder that was removed, ends it. */
export function openAccess(folder: DataFolder): Access {
  const { root, meta, path: dataDir, file, watch } = folder;
  let closing: Promise<void> | undefined;
  const commits = new GroupCommit(
    {
      // After a fatal error LMDB cannot begin a transaction, and its promise never settles.
      check: () => rejectIf(watch.fatal()),
      transact: (runJobs) => transact(root, file, runJobs),
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

  /**
   * Resolves when all accepted writes have settled.
   * @throws {StoreError} `outcome-unknown` if one has not settled by the deadline. Then all writes are rejected
   */
  async function settleWrites(timeoutMs?: number): Promise<void> {
    if ((await commits.idle(timeoutMs)) || timeoutMs === undefined) return;
    const why = `The data folder ${dataDir} was closed, but a write did not complete within ${timeoutMs / 1000} s: its disk hangs, or a process that shares it is suspended.`;
    commits.rejectAll(new StoreError('unavailable', why));
    throw new StoreError('outcome-unknown', why);
  }

  return {
    read(action) {
      if (closing !== undefined) throw closed(dataDir);
      rejectIf(watch.fatal());
      try {
        // lmdb uses one snapshot per turn of the event loop. Within that turn, another process may acknowledge a record that
        // the client then requests from this one. Takes 0.5 µs.
        root.resetReadTxn();
        return action();
      } catch (error) {
        throw watch.recordFatal(toReadError(error, dataDir));
      }
    },
    async write(job, callOptions) {
      if (closing !== undefined) throw closed(dataDir);
      rejectIf(watch.fatal() ?? commits.stuck);
      return commits.write(job, callOptions?.signal);
    },
    ready() {
      if (closing !== undefined) throw closed(dataDir);
      rejectIf(watch.check() ?? commits.stuck);
    },
    close({ timeoutMs } = {}) {
      closing ??= settleWrites(timeoutMs).then(() => folder.close());
      return closing;
    },
  };
}

function rejectIf(error: Error | undefined): void {
  if (error !== undefined) throw error;
}
