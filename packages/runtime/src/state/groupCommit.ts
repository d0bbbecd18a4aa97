import type { RootDatabase } from 'lmdb';
import type { LmdbFile } from './lmdbFile.ts';

interface Job {
  /** Runs the job. Returns a function that resolves its promise; call it after the commit. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Runs jobs in write transactions, one transaction at a time: all jobs that wait share the next one. Their promises
 * resolve when it is on disk, and reject if nothing of it is stored, or if that is unknown.
 */
export class GroupCommit<Tables extends { readonly root: RootDatabase<Buffer, Uint8Array> }> {
  readonly #file: LmdbFile<Tables>;
  #waiting: Job[] = [];
  #running: Promise<void> | undefined = undefined;

  constructor(file: LmdbFile<Tables>) {
    this.#file = file;
  }

  write<T>(job: (tables: Tables) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        const result = job(this.#file.tables);
        return () => resolve(result);
      };
      this.#waiting.push({ run, reject });
      this.#running ??= this.#commitAll();
    });
  }

  /** Resolves when all jobs have ended. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#commit();
    this.#running = undefined;
  }

  async #commit(): Promise<void> {
    let jobs: readonly Job[] = [];
    try {
      // Another user of the file in this process may have made it unusable: then the transaction would never end.
      await this.#file.check();
      // A child transaction: lmdb rolls back only these.
      const resolvers = await this.#file.tables.root.childTransaction(() => {
        jobs = this.#waiting.splice(0);
        return jobs.map(({ run }) => run());
      });
      for (const resolve of resolvers) resolve();
    } catch (error) {
      const cause = await commitCause(error);
      // A transaction that could not begin has taken no jobs.
      if (jobs.length === 0) jobs = this.#waiting.splice(0);
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
