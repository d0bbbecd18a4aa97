import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';

// Holds the write lock of a data folder until it is killed, like a process that was suspended during a write.
const [dataDir = ''] = process.argv.slice(2);
const root = open({ path: join(dataDir, 'petstore.mdb'), noSubdir: true, overlappingSync: false });
root.transactionSync(() => {
  // Not `process.stdout`: the event loop is blocked from here on.
  writeSync(1, 'held\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
