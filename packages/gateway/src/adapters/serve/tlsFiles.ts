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
  let [file, what] = [certFile, 'a certificate'];
  try {
    const cert = await readFile(certFile);
    const certificate = new X509Certificate(cert);
    [file, what] = [keyFile, `the private key, without a passphrase, of ${resolve(certFile)}`];
    const key = await readFile(keyFile);
    if (!certificate.checkPrivateKey(createPrivateKey(key)))
      throw new Error('the certificate has another key');
    return use({ cert, key });
  } catch (cause) {
    const { message } = cause as Error;
    throw new CertificateError(`${resolve(file)} cannot be read as PEM of ${what}: ${message}.`, { cause });
  }
}
