import type { ServiceLog } from './parts.ts';

/** Logs a warning if the process runs as root. */
export function warnIfRoot(log: Pick<ServiceLog, 'warn'>): void {
  if (process.getuid?.() !== 0) return;
  log.warn(
    'running as root: run the service as its own user, which owns only the files that the service writes',
  );
}
