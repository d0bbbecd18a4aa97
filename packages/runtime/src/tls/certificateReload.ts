import { unwatchFile, watchFile } from 'node:fs';
import type { Listening, TlsFiles } from 'trpc-gateway/serve';
import type { ServiceLog } from '../parts.ts';

const restartNeeded =
  'this server reads the certificate only at start: restart the service to use the new one';

/** Polling interval. A minute is enough, because certificates are renewed days before they expire. */
const pollMs = 60_000;

export interface CertificateReloadOptions {
  readonly files: TlsFiles;
  /** `undefined` on uWebSockets.js, which reads a certificate only at start. */
  readonly reload: Listening['reloadCertificate'] | undefined;
  readonly log: Pick<ServiceLog, 'info' | 'warn' | 'error'>;
  /** Polling interval in milliseconds. Default: 60,000. */
  readonly everyMs?: number;
}

/**
 * Reloads a certificate on SIGHUP and when its files change. While they are invalid, as between the writes of the two, it
 * logs an error and keeps the current one. Without `reload`, it only logs that a restart is needed.
 * @returns a function that stops reloading
 */
export function reloadCertificates({ files, reload, log, everyMs = pollMs }: CertificateReloadOptions) {
  const { certFile, keyFile } = files;
  let isStopped = false;
  const onChange = () => {
    if (isStopped) return;
    if (!reload) return log.warn({ certFile }, restartNeeded);
    reload().then(
      () => log.info({ certFile }, 'certificate reloaded'),
      (error: unknown) =>
        log.error(error, 'the certificate could not be reloaded; the previous one stays in use'),
    );
  };
  // Polls by stat, which follows links: renewal tools swap symbolic links or mounts, and these emit no file events.
  for (const file of [certFile, keyFile]) watchFile(file, { interval: everyMs, persistent: false }, onChange);
  process.on('SIGHUP', onChange);
  return () => {
    // The listener of SIGHUP stays: without one, the signal would end a process that drains.
    isStopped = true;
    for (const file of [certFile, keyFile]) unwatchFile(file, onChange);
  };
}
