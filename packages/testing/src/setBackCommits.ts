import { execFileSync } from 'node:child_process';

const program = `
  const { openSync, readSync, writeSync } = require('node:fs');
  const [, path, commits] = process.argv;
  const file = openSync(path, 'r+');
  const newest = Buffer.alloc(8);
  readSync(file, newest, 0, 8, 8);
  newest.writeBigUInt64LE(newest.readBigUInt64LE() - BigInt(commits));
  writeSync(file, newest, 0, 8, 8);`;

/** Does what a process does that opens an LMDB file while others make some commits: sets the newest commit to the one before them. */
export function setBackCommits(file: string, commits: number): void {
  // Another process: one that closes the lock file loses its locks.
  execFileSync(process.execPath, ['-e', program, `${file}-lock`, String(commits)]);
}
