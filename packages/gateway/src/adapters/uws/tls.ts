import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type * as Uws from 'uWebSockets.js';

/** The files, in PEM, of what a server shows its clients. */
export interface TlsFiles {
  /** The certificate, then those that lead to its root. */
  readonly certFile: string;
  /** Its private key, without a passphrase. */
  readonly keyFile: string;
}

/** Why a certificate cannot be served: one sentence that names the file. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/** The parts of uWebSockets.js 20 that its types leave out. */
interface SharedApp extends Uws.TemplatedApp {
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
}

export interface TlsApps {
  /** The one that listens. */
  readonly listener: Uws.TemplatedApp;
  /** Every one that has had connections, those of replaced certificates among them. */
  readonly serving: ReadonlySet<Uws.TemplatedApp>;
  /**
   * Reads the files anew. Who connects from now on is shown what they hold; connections that are open go on.
   * @throws {CertificateError} where they cannot be served: then all stays as it is
   */
  readonly reload: () => Promise<void>;
}

/**
 * Makes apps that serve over TLS. uWebSockets.js 20 reads a certificate once, when an app is made, and what it can replace
 * is chosen by server name: the clients that name none would see the first one for ever, and a name that is removed takes
 * its routes from under open connections. So one app listens, and hands each connection to the newest app behind it:
 * what it does elsewhere to share connections between threads. No connection is lost in between.
 *
 * A replaced app is kept: it costs a few kilobytes for each reload.
 * @param attach gives an app its routes
 * @throws {CertificateError}
 */
export async function tlsApps(
  uws: typeof Uws,
  files: TlsFiles,
  attach: (app: Uws.TemplatedApp) => void,
): Promise<TlsApps> {
  const listener = uws.SSLApp({}) as SharedApp;
  const serving = new Set<Uws.TemplatedApp>();
  let current: SharedApp | undefined;

  async function reload() {
    await check(files);
    const next = createApp(uws, files);
    attach(next);
    listener.addChildAppDescriptor(next.getDescriptor());
    if (current) listener.removeChildAppDescriptor(current.getDescriptor());
    current = next;
    serving.add(next);
  }

  await reload();
  return { listener, serving, reload };
}

function createApp(uws: typeof Uws, { certFile, keyFile }: TlsFiles): SharedApp {
  try {
    return uws.SSLApp({ cert_file_name: certFile, key_file_name: keyFile }) as SharedApp;
  } catch (cause) {
    throw new CertificateError(`The certificate ${certFile} and the key ${keyFile} cannot be served.`, {
      cause,
    });
  }
}

/** uWebSockets.js says no more than that it failed. */
async function check({ certFile, keyFile }: TlsFiles): Promise<void> {
  const [cert, key] = await Promise.all([read(certFile), read(keyFile)]);
  const certificate = parsed(certFile, 'certificate', () => new X509Certificate(cert));
  const privateKey = parsed(keyFile, 'private key without a passphrase', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CertificateError(`The key in ${keyFile} is not that of the certificate in ${certFile}.`);
  }
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new CertificateError(`${file} cannot be read: ${String(Object(cause).code)}.`, { cause });
  }
}

function parsed<T>(file: string, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new CertificateError(`${file} holds no ${what} in PEM.`, { cause });
  }
}
