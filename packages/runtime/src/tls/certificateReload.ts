import { unwatchFile, watchFile } from 'node:fs';
import type { Listening, TlsFiles } from '@petstore/gateway/listen';
import type { ServiceLog } from '../parts.ts';

/** How often the files are looked at, in milliseconds: certificates are renewed days before they expire. */
const pollMs = 60_000;

export interface CertificateReloadOptions {
  readonly files: TlsFiles;
  readonly reload: Listening['reloadCertificate'];
  readonly log: Pick<ServiceLog, 'info' | 'error'>;
  readonly everyMs?: number;
}

/**
 * Reads a certificate again when its file or its key's changes, and on SIGHUP. One that cannot be served is logged, and
 * the one that is served stays: between the writes of the two files that is so for a moment.
 * @returns ends it
 */
export function reloadCertificates({ files, reload, log, everyMs = pollMs }: CertificateReloadOptions) {
  const { certFile, keyFile } = files;
  let hasEnded = false;
  const onChange = () => {
    if (hasEnded) return;
    reload().then(
      () => log.info({ certFile }, 'certificate reloaded'),
      (error: unknown) => log.error(error, 'the certificate could not be reloaded; the one before stays'),
    );
  };
  // By stat, which follows links: what renews certificates swaps links, or mounts, that no file event tells of.
  for (const file of [certFile, keyFile]) watchFile(file, { interval: everyMs, persistent: false }, onChange);
  process.on('SIGHUP', onChange);
  return () => {
    // The signal stays heeded: it would end a process that drains.
    hasEnded = true;
    for (const file of [certFile, keyFile]) unwatchFile(file, onChange);
  };
}
