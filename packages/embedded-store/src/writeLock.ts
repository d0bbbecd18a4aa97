import { open, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '@petstore/core/store';
import { newestOffset } from 'trpc-gateway-shared/lmdb';

/** A write takes milliseconds. If the lock is held longer than this, its process is stopped or its disk hangs. */
const LOCK_TIMEOUT_MS = 10_000;

const LOCK_POLL_MS = 50;

/** The offset of the lock in MDB_txninfo (mdb.c, glibc). Its first word: thread id, two flags. */
const LOCK = 64;
const THREAD_MASK = 0x3fff_ffff;

/**
 * Waits while another process holds the write lock of a data folder. LMDB takes that lock to open a table and blocks the
 * event loop until it gets it, so that no timer or signal handler runs. Supports Linux with glibc; elsewhere it does not
 * wait.
 * @throws {StoreError} `unavailable` if one process holds the lock for 10 s
 */
export async function waitForWriteLock(path: string, lockFile: string): Promise<void> {
  const holder = await findHolder(lockFile);
  if (holder === undefined) return;
  for (const until = performance.now() + LOCK_TIMEOUT_MS; performance.now() < until;) {
    await delay(LOCK_POLL_MS);
    if ((await findHolder(lockFile))?.state !== holder.state) return;
  }
  throw new StoreError(
    'unavailable',
    `The data folder ${path} cannot be opened: process ${holder.pid} has held its write lock for ${LOCK_TIMEOUT_MS / 1000} s. If that process is suspended or hangs, resume it (kill -CONT ${holder.pid}) or end it, and try again.`,
  );
}

/** Finds the process that holds the lock. Its `state` changes when the lock changes hands, and with each commit. */
async function findHolder(lockFile: string) {
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
  // After a power cut the file may contain the id of a thread that is gone, and another process may have that id now.
  if (!maps.includes(lockFile)) return undefined;
  const pid = /^Tgid:\s*(\d+)$/m.exec(status)?.[1] ?? String(thread);
  return { pid, state: `${thread} ${bytes.readBigUInt64LE(newestOffset)}` };
}

/** Returns the content of a file; '' if it does not exist or belongs to another user. */
const readIfReadable = (path: string) => readFile(path, 'utf8').catch(() => '');
