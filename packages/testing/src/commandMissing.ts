import { spawnSync } from 'node:child_process';

/** Whether a case must be skipped because the machine lacks a command. Where it does, a line says so. */
export function commandMissing(command: string): boolean {
  const missing = spawnSync('bash', ['-c', 'command -v "$0"', command]).status !== 0;
  if (missing)
    process.stderr.write(`SKIPPED: cases that need ${command}, which this machine does not have.\n`);
  return missing;
}
