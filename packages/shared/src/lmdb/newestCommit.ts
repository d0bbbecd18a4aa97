import { openSync, readSync, statSync, writeSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';

type Root = Pick<RootDatabase, 'childTransaction' | 'getStats' | 'getWriteTxnId' | 'transactionSync'>;

/** Where a lock file has the number of the newest commit, from which all processes begin (mdb.c, `MDB_txninfo`). */
export const newestOffset = 8;

/**
 * Runs a job in a write transaction that begins at the newest commit. All transactions of a file that processes share must be
 * run by this function or by `transact`.
 *
 * A process that opens the file sets the number of the newest commit to the one that it has read before (lmdb 3.5.6,
 * `mdb_env_open2`), without the write lock. The next transaction would then undo a commit that was made in between, which was
 * acknowledged; after two such commits no transaction of any process would succeed.
 * @param path of the file
 */
export function transactSync<T>(root: Root, path: string, job: () => T): T {
  for (;;) {
    let done: { readonly result: T } | undefined;
    root.transactionSync(() => {
      if (beginsAtNewest(root, path)) done = { result: job() };
    });
    if (done !== undefined) return done.result;
  }
}

/** As `transactSync`, in a child transaction, until on disk. Only a child rolls back if lmdb fails inside a job. */
export async function transact(root: Root, path: string, job: () => void): Promise<void> {
  for (;;) {
    let hasRun = false;
    await root.childTransaction(() => {
      hasRun = beginsAtNewest(root, path);
      if (hasRun) job();
    });
    if (hasRun) return;
  }
}

/** Returns whether the transaction that runs begins at the newest commit. If not, the next one will: this one must write nothing. */
function beginsAtNewest(root: Root, path: string): boolean {
  const begin = root.getWriteTxnId() - 1;
  // By the data file.
  const { lastTxnId: newest } = root.getStats() as { readonly lastTxnId: number };
  if (begin === newest) return true;
  const lockFile = openLockFile(`${path}-lock`);
  const bytes = Buffer.alloc(8);
  readSync(lockFile, bytes, 0, 8, newestOffset);
  if (bytes.readBigUInt64LE() !== BigInt(begin))
    throw new Error(`${path}-lock has another layout than that of lmdb 3.5.6. Install that version of lmdb.`);
  bytes.writeBigUInt64LE(BigInt(newest));
  writeSync(lockFile, bytes, 0, 8, newestOffset);
  return false;
}

/** By inode. They stay open: when a process closes a file once, it loses all its locks on it (fcntl(2)). */
const lockFiles = new Map<string, number>();

function openLockFile(path: string): number {
  const { dev, ino } = statSync(path);
  const file = lockFiles.get(`${dev} ${ino}`) ?? openSync(path, 'r+');
  lockFiles.set(`${dev} ${ino}`, file);
  return file;
}
