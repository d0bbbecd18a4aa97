import http from 'node:http';
import { GatewayError } from '../../http/gatewayError.ts';
import { defaultMessageBytes, type Service } from '../../http/service.ts';
import { createListening } from '../server/createListening.ts';
import { ListenError } from '../server/listenError.ts';
import { OpenSockets } from '../server/openSockets.ts';
import { serveSettings, type Listening, type ServeOptions } from '../server/serveOptions.ts';
import { withCertificate } from '../server/tlsFiles.ts';
import { Bun } from './native.ts';
import { idleSeconds } from './request.ts';
import { BunResponder } from './responder.ts';
import { webSocketHandlers } from './socket.ts';

export { ListenError } from '../server/listenError.ts';
export { reservePort, type ReservedPort } from '../server/reservePort.ts';
export type { CloseOptions, Listening, ServeOptions } from '../server/serveOptions.ts';
export { CertificateError, type TlsFiles } from '../server/tlsFiles.ts';

/**
 * Serves a gateway, or your own `Service`, on `Bun.serve`. Resolves when the server listens.
 *
 * Not for direct exposure: put a proxy before it. Bun does not report which responses a client has not read, so one client
 * without a key can take the memory of the process, with requests that it sends slowly and whose responses it never reads.
 *
 * Bun itself rejects a head of more than twice `maxHeaderBytes` (of the last `serve` of the process) with 431 and no
 * body, and does not limit its headers otherwise. `maxConnections` limits requests in flight and WebSockets, and
 * `maxUnsentBytes` WebSockets.
 * @throws {ListenError} if the address cannot be listened on
 * @throws {CertificateError} if the certificate cannot be used
 * @throws {GatewayError} on another runtime than Bun, for options that are unknown or invalid, and if `service` is not a
 *   gateway, such as the promise of one
 */
export async function serve(service: Service, options: ServeOptions = {}): Promise<Listening> {
  const settings = serveSettings(service, options);
  const { host, port, reusePort, tls, maxConnections, maxUnsentBytes, limits } = settings;
  if (!Bun) {
    throw new GatewayError(
      'trpc-gateway/bun runs on Bun 1.4 or newer. On Node, serve with trpc-gateway/uws or trpc-gateway/node.',
    );
  }
  const sockets = new OpenSockets(service, maxUnsentBytes, maxConnections);
  const responder = new BunResponder(service, sockets, limits, maxConnections);
  const pem = tls && (await withCertificate(tls, (read) => read));
  // Typed as a constant, as it is in Node.
  (http as { maxHeaderSize: number }).maxHeaderSize = 2 * limits.maxHeaderBytes;
  let native;
  try {
    native = Bun.serve({
      hostname: host,
      port,
      reusePort,
      tls: pem,
      development: false,
      idleTimeout: idleSeconds,
      // The gateway rejects bodies over its own limits, as JSON.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request, server) => responder.receive(request, server),
      websocket: webSocketHandlers(service.maxMessageBytes ?? defaultMessageBytes, sockets, responder),
    });
  } catch (error) {
    throw ListenError.from(error as NodeJS.ErrnoException, host, port);
  }
  return {
    host,
    port: native.port,
    ...createListening({
      responder,
      sockets,
      connections: () => native.pendingRequests,
      stopListening: () => void native.stop(),
      end: () => void native.stop(true),
    }),
  };
}
