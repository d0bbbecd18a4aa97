import type { ServerOptions } from 'node:http';
import type * as Https from 'node:https';
import { https } from './builtins.ts';
import { withCertificate, type TlsFiles } from '../server/tlsFiles.ts';

/** Maximum time for a TLS handshake, in milliseconds. */
const handshakeTimeout = 10_000;
const minVersion = 'TLSv1.2';

/** @throws {CertificateError} if the certificate cannot be used */
export async function createTlsServer(options: ServerOptions, files: TlsFiles): Promise<Https.Server> {
  return withCertificate(files, (pem) =>
    https.createServer({ ...options, ...pem, minVersion, handshakeTimeout }),
  );
}

/**
 * Reads the certificate files again. New connections use the new certificate; open connections are not affected.
 * @throws {CertificateError} if the files cannot be used; the current certificate stays in use
 */
export async function reloadCertificate(server: Https.Server, files: TlsFiles): Promise<void> {
  await withCertificate(files, (pem) => server.setSecureContext({ ...pem, minVersion }));
}
