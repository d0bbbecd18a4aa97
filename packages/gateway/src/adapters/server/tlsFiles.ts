import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** The PEM files of a server's certificate. */
export interface TlsFiles {
  /** The certificate, followed by its intermediate certificates. */
  readonly certFile: string;
  /** Its private key, without a passphrase. */
  readonly keyFile: string;
}

/** A certificate that cannot be served. The message names the file. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';

  /** For files that are sound, but that the TLS library rejects. */
  static unserved({ certFile, keyFile }: TlsFiles, cause: unknown): CertificateError {
    return new CertificateError(`The certificate ${certFile} and the key ${keyFile} cannot be served.`, {
      cause,
    });
  }
}

/**
 * Reads the files, and finds what is wrong with them before a TLS library, which reports only that it failed.
 * @throws {CertificateError}
 */
export async function readTlsFiles({
  certFile,
  keyFile,
}: TlsFiles): Promise<{ readonly cert: Buffer; readonly key: Buffer }> {
  const cert = await read(certFile);
  const certificate = parse(certFile, 'certificate', () => new X509Certificate(cert));
  const key = await read(keyFile);
  const privateKey = parse(keyFile, 'private key without a passphrase', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CertificateError(
      `The key in ${resolve(keyFile)} is not that of the certificate in ${resolve(certFile)}.`,
    );
  }
  return { cert, key };
}

async function read(file: string): Promise<Buffer> {
  return readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new CertificateError(`${resolve(file)} cannot be read: ${cause.code}.`, { cause });
  });
}

function parse<T>(file: string, what: string, parser: () => T): T {
  try {
    return parser();
  } catch (cause) {
    throw new CertificateError(`${resolve(file)} holds no ${what} in PEM.`, { cause });
  }
}
