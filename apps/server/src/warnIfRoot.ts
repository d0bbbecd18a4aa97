import type { Log } from '@petstore/runtime/log';

/** Logs a warning where the process runs as root. */
export function warnIfRoot(log: Pick<Log, 'warn'>): void {
  if (process.getuid?.() !== 0) return;
  log.warn(
    'running as root: run the service as a user of its own that owns the data folder, and nothing else',
  );
}
