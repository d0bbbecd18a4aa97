import { readFileSync } from 'node:fs';

/** Whether a process runs (Linux): one that has ended may wait for the process that collects orphans. */
export function lives(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
