import type { ServerOptions } from 'node:http';
import type * as Https from 'node:https';
import { https } from './builtins.ts';
import { CertificateError, readTlsFiles, type TlsFiles } from '../server/tlsFiles.ts';

/** How long a handshake may take. */
const handshakeTimeout = 10_000;
const minVersion = 'TLSv1.2';

/** @throws {CertificateError} where the certificate cannot be served */
export async function createTlsServer(options: ServerOptions, files: TlsFiles): Promise<Https.Server> {
  return withCertificate(files, (pem) =>
    https.createServer({ ...options, ...pem, minVersion, handshakeTimeout }),
  );
}

/**
 * Reads the files again, for new connections. Open ones go on.
 * @throws {CertificateError} where they cannot be served: then the current certificate stays
 */
export async function reloadCertificate(server: Https.Server, files: TlsFiles): Promise<void> {
  await withCertificate(files, (pem) => server.setSecureContext({ ...pem, minVersion }));
}

async function withCertificate<T>(
  files: TlsFiles,
  use: (pem: { readonly cert: Buffer; readonly key: Buffer }) => T,
): Promise<T> {
  const pem = await readTlsFiles(files);
  try {
    return use(pem);
  } catch (cause) {
    throw CertificateError.unserved(files, cause);
  }
}
