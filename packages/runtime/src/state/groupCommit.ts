import type { RootDatabase } from 'lmdb';
import type { LmdbFile } from './lmdbFile.ts';

/** How long a transaction accepts jobs, in milliseconds: it blocks the event loop and holds the lock of all processes. */
const transactionMs = 5;

/** How long a job may take, in milliseconds. Requests stop waiting earlier, and the gateway repeats later. */
const jobTimeoutMs = 5000;

interface Job {
  /** Runs the job. Returns a function that resolves its promise; call it after the commit. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Runs jobs in write transactions, one transaction at a time: jobs that wait together share the next ones. A promise
 * resolves when its job is on disk, and rejects if nothing of it is stored, or if that is unknown. A job that has not begun
 * in time never runs, which bounds the queue while the disk hangs.
 *
 * The embedded store of `@petstore/core` has a group commit of its own: neither package imports the other, and an error of
 * the disk is fatal there, while this file is opened again.
 */
export class GroupCommit<Tables extends { readonly root: RootDatabase<Buffer, Uint8Array> }> {
  readonly #file: LmdbFile<Tables>;
  readonly #waiting = new Set<Job>();
  #running: Promise<void> | undefined = undefined;

  constructor(file: LmdbFile<Tables>) {
    this.#file = file;
  }

  write<T>(job: (tables: Tables) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(
          new Error(
            `The state in ${this.#file.path} has not completed a write for ${jobTimeoutMs / 1000} s: its disk hangs, or a process that shares it is suspended.`,
          ),
        );
      }, jobTimeoutMs).unref();
      const waiting: Job = {
        run: () => {
          const result = job(this.#file.tables);
          return () => {
            clearTimeout(timer);
            resolve(result);
          };
        },
        reject: (reason) => {
          clearTimeout(timer);
          reject(reason);
        },
      };
      this.#waiting.add(waiting);
      this.#running ??= this.#commitAll();
    });
  }

  /** Resolves when all jobs have ended. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #commitAll(): Promise<void> {
    while (this.#waiting.size > 0) await this.#commit();
    this.#running = undefined;
  }

  async #commit(): Promise<void> {
    const jobs: Job[] = [];
    const resolvers: (() => void)[] = [];
    try {
      // Another user of the file in this process may have made it unusable: then the transaction would never end.
      await this.#file.check();
      // A child transaction: lmdb rolls back only these.
      await this.#file.tables.root.childTransaction(() => {
        const until = performance.now() + transactionMs;
        for (const job of this.#waiting) {
          this.#waiting.delete(job);
          jobs.push(job);
          resolvers.push(job.run());
          if (performance.now() >= until) return;
        }
      });
      for (const resolve of resolvers) resolve();
    } catch (error) {
      const cause = await commitCause(error);
      // A transaction that could not begin has taken no jobs.
      if (jobs.length === 0) {
        jobs.push(...this.#waiting);
        this.#waiting.clear();
      }
      for (const { reject } of jobs) reject(cause);
    }
  }
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
