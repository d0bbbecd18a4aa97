import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { open } from 'lmdb';
import { startProcess } from './startProcess.ts';

/** Holds an LMDB file's write lock until killed, as if suspended in a write. Resolves when it holds it. */
export async function holdWriteLock(file: string): Promise<ChildProcess> {
  const holder = startProcess(process.execPath, [import.meta.filename, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout ?? holder, 'data');
  return holder;
}

// The process that it starts.
if (process.argv[1] === import.meta.filename) {
  const [, , path = ''] = process.argv;
  open({ path, noSubdir: true, overlappingSync: false }).transactionSync(() => {
    // Not `process.stdout`: the event loop is blocked from here on.
    writeSync(1, 'held\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}
