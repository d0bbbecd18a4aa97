import type { RootDatabase } from 'lmdb';
import { GroupCommit } from './groupCommit.ts';
import type { LmdbFile } from './lmdbFile.ts';
import { transact } from './newestCommit.ts';

/** How long a write waits, in milliseconds. Requests stop waiting earlier. */
const timeoutMs = 5000;

/** How long `close` waits for pending writes, in milliseconds. */
const closeTimeoutMs = 2000;

/**
 * Creates the group commit of a file that processes share.
 * @param what names the file in messages
 * @param onCommitted called when a transaction is on disk, or can be read by other processes if the file has no sync
 */
export function createFileCommits<Tables extends { readonly root: RootDatabase<Buffer, Uint8Array> }>(
  what: string,
  file: LmdbFile<Tables>,
  onCommitted: () => void = () => {},
) {
  const hangs = (ms: number) =>
    new Error(
      `${what} has not completed a write for ${ms / 1000} s: its disk hangs, a process that shares it is suspended, or the machine is overloaded.`,
    );
  const commits = new GroupCommit(
    {
      // Another user of the file in this process may have made it unusable.
      check: () => file.check(),
      transact: (runJobs) => transact(file.tables.root, file.path, runJobs),
      onCommitted,
    },
    { timeoutMs, notStarted: () => hangs(timeoutMs) },
  );
  return {
    write: <T>(job: (tables: Tables) => T): Promise<T> => commits.write(() => job(file.tables)),
    /** Waits for pending writes and closes the file. @throws if the writes do not end within 2 s */
    close: async (): Promise<void> => {
      if (!(await commits.idle(closeTimeoutMs))) throw hangs(closeTimeoutMs);
      await file.close();
    },
  };
}
