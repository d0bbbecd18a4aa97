import type * as Uws from 'uWebSockets.js';
import { CertificateError, readTlsFiles, type TlsFiles } from '../server/tlsFiles.ts';

/** An app with methods that are missing in the types of uWebSockets.js 20. */
interface SharedApp extends Uws.TemplatedApp {
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
}

export interface TlsApps {
  /** The app that listens. */
  readonly listener: Uws.TemplatedApp;
  /** All apps that may have connections, including those of replaced certificates. */
  readonly serving: ReadonlySet<Uws.TemplatedApp>;
  /**
   * Reads the certificate files again. New connections use the new certificate; open connections are not affected.
   * @throws {CertificateError} if the files cannot be used; the current certificate stays in use
   */
  readonly reload: () => Promise<void>;
}

/**
 * Creates apps that serve over TLS, with a certificate that can be replaced.
 *
 * uWebSockets.js 20 reads a certificate once, when an app is created. Only certificates chosen by server name can be
 * replaced: clients without a server name would always get the first certificate, and removing a name removes the
 * routes of its open connections. So one app listens and passes each connection to the newest app, with the mechanism
 * by which uWS shares connections between threads. No connection is lost. Replaced apps are kept, at a few kilobytes
 * each.
 * @param attach adds the routes to an app
 * @throws {CertificateError} if the certificate cannot be used
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
    const next = await createApp(uws, files);
    attach(next);
    listener.addChildAppDescriptor(next.getDescriptor());
    if (current) listener.removeChildAppDescriptor(current.getDescriptor());
    current = next;
    serving.add(next);
  }

  await reload();
  return { listener, serving, reload };
}

async function createApp(uws: typeof Uws, files: TlsFiles): Promise<SharedApp> {
  await readTlsFiles(files);
  try {
    return uws.SSLApp({ cert_file_name: files.certFile, key_file_name: files.keyFile }) as SharedApp;
  } catch (cause) {
    throw CertificateError.unserved(files, cause);
  }
}
