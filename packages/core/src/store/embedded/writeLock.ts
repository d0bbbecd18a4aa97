import { open, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../storeError.ts';

/** A write takes milliseconds: after this the process that holds the lock is stopped, or its disk hangs. */
const LOCK_TIMEOUT_MS = 10_000;

const POLL_MS = 50;

/*
 * struct MDB_txninfo in liblmdb's mdb.c, with the robust mutexes of glibc: the number of the last transaction, and the
 * first word of the write lock, which is the id of the thread that holds it, and two flags.
 */
const LAST_TRANSACTION = 8;
const LOCK = 64;
const THREAD_MASK = 0x3fff_ffff;

interface LockHolder {
  /** The process that holds the lock. */
  readonly pid: string;
  /** Changes when the lock changes hands, and with each commit. */
  readonly state: string;
}

/**
 * Waits while another process holds the write lock of a data folder. To open a table LMDB takes that lock, and blocks the
 * event loop until it has it: no timer and no signal handler would run. Looks at the lock on Linux with glibc only.
 * @throws {StoreError} `unavailable` where one process has held it for 10 s
 */
export async function waitForWriteLock(path: string, lockFile: string): Promise<void> {
  const holder = await findHolder(lockFile);
  if (holder === undefined) return;
  for (const until = performance.now() + LOCK_TIMEOUT_MS; performance.now() < until;) {
    await delay(POLL_MS);
    if ((await findHolder(lockFile))?.state !== holder.state) return;
  }
  throw new StoreError(
    'unavailable',
    `The data folder ${path} cannot be opened: process ${holder.pid} has held its write lock for ${LOCK_TIMEOUT_MS / 1000} s. If that process is stopped or hangs, continue it (kill -CONT ${holder.pid}) or end it, and try again.`,
  );
}

async function findHolder(lockFile: string): Promise<LockHolder | undefined> {
  const bytes = Buffer.alloc(LOCK + 4);
  const file = await open(lockFile, 'r');
  try {
    if ((await file.read(bytes, 0, bytes.length, 0)).bytesRead < bytes.length) return undefined;
  } finally {
    await file.close();
  }
  const thread = bytes.readUInt32LE(LOCK) & THREAD_MASK;
  if (thread === 0) return undefined;
  const [maps, status] = await Promise.all([
    readIfReadable(`/proc/${thread}/maps`),
    readIfReadable(`/proc/${thread}/status`),
  ]);
  // After a power cut the file may name a thread that is gone, whose id another process has by now.
  if (!maps.includes(lockFile)) return undefined;
  const pid = /^Tgid:\s*(\d+)$/m.exec(status)?.[1] ?? String(thread);
  return { pid, state: `${thread} ${bytes.readBigUInt64LE(LAST_TRANSACTION)}` };
}

/** Empty where there is none, or another user's. */
const readIfReadable = (path: string) => readFile(path, 'utf8').catch(() => '');
