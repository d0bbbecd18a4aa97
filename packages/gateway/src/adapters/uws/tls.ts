import type * as Uws from 'uWebSockets.js';
import { CertificateError, readTlsFiles, type TlsFiles } from '../server/tlsFiles.ts';

/** Methods that the types of uWebSockets.js 20 leave out. */
interface SharedApp extends Uws.TemplatedApp {
  getDescriptor(): number;
  addChildAppDescriptor(descriptor: number): void;
  removeChildAppDescriptor(descriptor: number): void;
}

export interface TlsApps {
  /** The one that listens. */
  readonly listener: Uws.TemplatedApp;
  /** Every app that may have connections, those of replaced certificates included. */
  readonly serving: ReadonlySet<Uws.TemplatedApp>;
  /**
   * Reads the files again, for new connections. Open ones go on.
   * @throws {CertificateError} where they cannot be served: then the current certificate stays
   */
  readonly reload: () => Promise<void>;
}

/**
 * Makes apps that serve over TLS. uWebSockets.js 20 reads a certificate once, when an app is made. It can replace those
 * chosen by server name only: clients that send none would get the first one for ever, and removing a name removes the
 * routes of its open connections. So one app listens and passes each connection to the newest app behind it, as uWS does to
 * share connections between threads. No connection is lost in between. A replaced app is kept: a few kilobytes each.
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
