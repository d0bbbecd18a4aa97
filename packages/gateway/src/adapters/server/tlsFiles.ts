import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** PEM files of the certificate of a server. */
export interface TlsFiles {
  /** Path of the certificate, followed by its intermediate certificates. */
  readonly certFile: string;
  /** Path of the private key, without a passphrase. */
  readonly keyFile: string;
}

/** Thrown for a certificate or key that cannot be used. The message names the file. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/**
 * Reads and validates the files, since a TLS library reports only that it failed, and passes them to it.
 * @throws {CertificateError} if a file cannot be read or is invalid, if the key does not match the certificate, or if the
 * library rejects them
 */
export async function withCertificate<T>(
  { certFile, keyFile }: TlsFiles,
  use: (pem: { readonly cert: Buffer; readonly key: Buffer }) => T,
): Promise<T> {
  const cert = await readPem(certFile);
  const certificate = parsePem(certFile, 'certificate', () => new X509Certificate(cert));
  const key = await readPem(keyFile);
  const privateKey = parsePem(keyFile, 'private key without a passphrase', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CertificateError(
      `The private key in ${resolve(keyFile)} does not match the certificate in ${resolve(certFile)}.`,
    );
  }
  try {
    return use({ cert, key });
  } catch (cause) {
    throw new CertificateError(`The certificate ${certFile} and the private key ${keyFile} cannot be used.`, {
      cause,
    });
  }
}

async function readPem(file: string): Promise<Buffer> {
  return readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new CertificateError(`${resolve(file)} cannot be read: ${cause.code}.`, { cause });
  });
}

function parsePem<T>(file: string, what: string, parser: () => T): T {
  try {
    return parser();
  } catch (cause) {
    throw new CertificateError(`${resolve(file)} contains no ${what} in PEM format.`, { cause });
  }
}
