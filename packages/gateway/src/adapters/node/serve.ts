import type * as Http from 'node:http';
import { once } from 'node:events';
import { Server as NetServer, type AddressInfo, type ListenOptions } from 'node:net';
import type { Service } from '../../http/service.ts';
import { createListening } from '../serve/createListening.ts';
import { ListenError } from '../serve/listenError.ts';
import { OpenSockets } from '../serve/openSockets.ts';
import { serveSettings, type Listening, type ServeOptions } from '../serve/serveOptions.ts';
import { withCertificate } from '../serve/tlsFiles.ts';
import { http, https } from './builtins.ts';
import { Connection, connectionCheckMs, Connections, Message, ServedRequest } from './connection.ts';
import { rejectInput } from './rejectInput.ts';
import { NodeResponder } from './responder.ts';
import { attachWebSockets } from './webSockets.ts';

const tlsOptions = {
  minVersion: 'TLSv1.2',
  /** Maximum time for a TLS handshake, in milliseconds. */
  handshakeTimeout: 10_000,
} as const;

/**
 * Serves a gateway, or your own `Service`, on node:http. Resolves when the server listens.
 * @throws {ListenError} if the address cannot be listened on
 * @throws {CertificateError} if the certificate cannot be used
 * @throws {GatewayError} for options that are unknown or invalid, and if `service` is not a gateway, such as the promise
 *   of one
 */
export async function serve(service: Service, options: ServeOptions = {}): Promise<Required<Listening>> {
  const settings = serveSettings(service, options);
  const { host, port, reusePort, tls, maxConnections, maxUnsentSize, limits } = settings;
  const serverOptions: Http.ServerOptions<typeof Message> = {
    // Timeouts for clients that send slowly. `Connection` closes those without activity.
    // Maximum time until the whole head has arrived.
    headersTimeout: 20_000,
    // Maximum time until the whole request has arrived: Node's default.
    requestTimeout: 300_000,
    connectionsCheckingInterval: connectionCheckMs,
    // Disabled: Node would set a timer for each request. `Connection` checks for idle clients.
    keepAliveTimeout: 0,
    IncomingMessage: Message,
    // `RequestHead` checks the exact limits. This one only limits how much the parser buffers before that.
    maxHeaderSize: 2 * limits.maxHeaderSize + 16_384,
    // `RequestHead` checks it, without Node's object of all headers.
    requireHostHeader: false,
    insecureHTTPParser: false,
  };
  const tlsServer =
    tls &&
    (await withCertificate(tls, (pem) => https.createServer({ ...serverOptions, ...tlsOptions, ...pem })));
  const server = tlsServer ?? http.createServer(serverOptions);
  // By default, Node drops headers after the first 1,000.
  server.maxHeadersCount = 0;

  const responder = new NodeResponder(service, maxUnsentSize);
  const sockets = new OpenSockets(service, maxUnsentSize, maxConnections);
  const connections = new Connections(server, settings);
  const receive = (message: Message, res: Http.ServerResponse) => {
    const { socket } = message;
    const connection = connections.get(socket);
    // The connection is already closing, and the client is still sending.
    if (!socket.writable || connection === undefined) return;
    // After the last request of a connection, further ones must not be processed, and their start may be uncertain.
    if (connection.isEnding) return connection.ignoreRequest();
    const request = new ServedRequest(message, res, limits, connection);
    if (request.isLast) connection.isEnding = true;
    responder.receive(request);
  };
  server.on('request', receive);
  server.on('checkContinue', receive);
  server.on('checkExpectation', receive);
  rejectInput(server, service, connections);
  const endWebSockets = attachWebSockets(server, {
    service,
    sockets,
    responder,
    receive(message, res) {
      const connection = connections.get(message.socket) ?? new Connection(message.socket);
      // The server creates all of its messages as a `Message`.
      return new ServedRequest(message as Message, res, limits, connection);
    },
    // WebSockets have their own timeouts.
    onUpgrade: (socket) => connections.delete(socket),
  });

  const address = await startListening(server, { host, port, reusePort });
  server.on('error', () => {});
  return {
    host,
    port: address.port,
    ...createListening({
      responder,
      sockets,
      connections: () => connections.open - sockets.size - sockets.closingSockets,
      // Not `server.close()`, which closes idle connections: a request may already be in transit.
      stopListening: () => NetServer.prototype.close.call(server),
      end() {
        endWebSockets();
        server.closeAllConnections();
        server.close();
      },
    }),
    async reloadCertificate() {
      if (tls) await withCertificate(tls, (pem) => tlsServer?.setSecureContext({ ...tlsOptions, ...pem }));
    },
  };
}

/** @throws {ListenError} if the address cannot be listened on */
async function startListening(server: NetServer, options: ListenOptions): Promise<AddressInfo> {
  const { host = '', port = 0 } = options;
  try {
    server.listen({ ...options, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    // macOS and Windows cannot share ports: the first process gets the port.
    if (cause.code === 'ENOTSUP' && options.reusePort)
      return startListening(server, { ...options, reusePort: false });
    throw ListenError.from(cause, host, port);
  }
  return server.address() as AddressInfo;
}
