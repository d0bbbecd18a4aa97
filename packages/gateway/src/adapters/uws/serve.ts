import type { HttpResponse as NativeResponse, us_listen_socket } from '@uwsjs/core';
import type { Service } from '../../http/service.ts';
import { createListening } from '../serve/createListening.ts';
import { ListenError } from '../serve/listenError.ts';
import { OpenSockets } from '../serve/openSockets.ts';
import { reservePort } from '../serve/reservePort.ts';
import { serveSettings, type Listening, type ServeOptions } from '../serve/serveOptions.ts';
import { withCertificate } from '../serve/tlsFiles.ts';
import { loadedPackage, uws } from './addon.ts';
import { UwsResponder } from './responder.ts';
import { attachWebSockets } from './webSockets.ts';

export { ListenError } from '../serve/listenError.ts';
export { reservePort, type ReservedPort } from '../serve/reservePort.ts';
export type { CloseOptions, Listening, ServeOptions } from '../serve/serveOptions.ts';
export { CertificateError, type TlsFiles } from '../serve/tlsFiles.ts';

/** Name and version of the package of uWebSockets.js that is loaded, such as `@uwsjs/core 20.69.0`. */
export const uwsVersion: string = loadedPackage;

/**
 * Serves a gateway, or your own `Service`, on uWebSockets.js. Resolves when the server listens.
 * @throws {ListenError} if the address cannot be listened on
 * @throws {CertificateError} if the certificate cannot be used
 * @throws {GatewayError} for options that are unknown or invalid, and if `service` is not a gateway, such as the promise
 *   of one
 * @throws {GatewayError} for a gateway with `cookie()`, unless a proxy makes it safe (`proxyRejectsNonAscii`)
 */
export async function serve(service: Service, options: ServeOptions = {}): Promise<Listening> {
  const settings = serveSettings(service, options);
  const { host, port, reusePort, tls, maxConnections, maxUnsentSize, limits } = settings;
  if (service.isBehindProxy) {
    process.emitWarning(
      'trustProxy is set, but uWebSockets.js closes idle connections after 8 to 12 s. A request that a proxy sends at that moment is lost (502), and most keep theirs for 60 s: let your proxy close idle connections within 8 s; or serve with "trpc-gateway/node".',
      { code: 'TRPC_GATEWAY_IDLE' },
    );
  }
  service.allowInexactHeaders?.();

  /** Number of open connections that are not WebSockets. */
  let connections = 0;
  const responder = new UwsResponder(service, maxUnsentSize);
  const sockets = new OpenSockets(service, maxUnsentSize, maxConnections);

  function onConnection(res: NativeResponse, change: number): void {
    connections += change;
    if (change < 0 || connections + sockets.size + sockets.closingSockets <= maxConnections) return;
    // Before the TLS handshake, uWebSockets.js 20 can neither send a response nor close the connection gracefully.
    if (tls) res.close();
    else res.cork(() => responder.writeBusy(res));
  }

  // The certificate is read here only: uWebSockets.js 20 can replace certificates by server name, but not the one for
  // clients without a server name, and removing a name removes the routes of its open connections.
  const app = tls
    ? await withCertificate(tls, () =>
        uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile }),
      )
    : uws.App();
  // The types have `Number` (uWebSockets.js 20).
  app.filter(onConnection as Parameters<typeof app.filter>[0]);
  // uWS does not call the filter for an upgrade.
  const onUpgrade = () => (connections -= 1);
  if (service.upgrade) attachWebSockets(app, { service, sockets, responder, limits, onUpgrade });
  app.any('/*', responder.handler(limits));

  const reserved = await reservePort(host, port, reusePort);
  const listenSocket = await new Promise<us_listen_socket>((resolve, reject) => {
    app.listen(host, reserved.port, (opened) => {
      if (opened) resolve(opened);
      else reject(new ListenError('in-use', host, reserved.port));
    });
  }).finally(reserved.release);

  return {
    host,
    port: uws.us_socket_local_port(listenSocket),
    ...createListening({
      responder,
      sockets,
      connections: () => connections,
      // Only once: closing a listen socket twice crashes the process with SIGSEGV (uWebSockets.js 20).
      stopListening: () => uws.us_listen_socket_close(listenSocket),
      end: () => app.close(),
    }),
  };
}
