/*
 * Holds the write lock of a state folder until it is killed, like a process that was suspended during a write:
 * `node holdLock.ts FOLDER`.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';

const root = open({
  path: join(process.argv[2] ?? '', 'values.mdb'),
  noSubdir: true,
  overlappingSync: false,
});
root.transactionSync(() => {
  // Not `process.stdout`: the event loop is blocked from here on.
  writeSync(1, 'held\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
