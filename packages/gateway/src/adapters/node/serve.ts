import type * as Http from 'node:http';
import { once } from 'node:events';
import { Server as NetServer, type AddressInfo, type ListenOptions, type Socket } from 'node:net';
import type { HttpResponse } from '../../http/response.ts';
import { defaultBodyBytes, type HttpRejection, type Service } from '../../http/service.ts';
import { Drain } from '../server/drain.ts';
import { ListenError } from '../server/listenError.ts';
import { defaultUnsentBytes, OpenSockets } from '../server/openSockets.ts';
import { busyResponse, defaultRejection } from '../server/rejections.ts';
import { byteLength, headOf, bufferedBody } from '../server/responseHead.ts';
import {
  checkOptions,
  requireService,
  type CloseOptions,
  type Listening,
  type ServeOptions,
} from '../server/serveOptions.ts';
import { maxRequestsPerTurn, TurnCounter } from '../server/turnCounter.ts';
import { http } from './builtins.ts';
import { Connection } from './connection.ts';
import { httpDate } from './httpDate.ts';
import { connectRejection, parseRejection, unreadRequest } from './parseRejection.ts';
import type { NodeRequest } from './request.ts';
import { Responder } from './responder.ts';
import { ServedRequest } from './servedRequest.ts';
import { createTlsServer, reloadCertificate } from './tls.ts';
import { attachWebSockets } from './webSockets.ts';

/**
 * A message that stops the parser after its connection was closed. Without it, Node would create a request for each of up
 * to 1,900 that a segment of 64 KiB contains, and abort each with an error: 30 ms for each connection of a flood instead of
 * 5 (Node 22). Nothing documented stops the parser: it reads `upgrade`, and leaves the rest of the segment to the upgrade.
 * If a version of Node does not read it, only floods cost more.
 */
class Message extends http.IncomingMessage {
  /** As set by Node. */
  isUpgrade = false;

  get upgrade(): boolean {
    return this.isUpgrade || this.socket.destroyed;
  }

  set upgrade(isUpgrade: boolean) {
    this.isUpgrade = isUpgrade;
  }
}

/** Interval of the checks of connections, for idle clients and for `timeLimits`. */
const connectionCheckMs = 1000;

/**
 * Timeouts for clients that send slowly. A connection without any activity is closed after 11 to 12 s (`Connection`).
 */
const timeLimits = {
  /** Maximum time until the whole head has arrived. */
  headersTimeout: 20_000,
  /** Maximum time until the whole request has arrived: Node's default. */
  requestTimeout: 300_000,
  connectionsCheckingInterval: connectionCheckMs,
  // Disabled: Node would set a timer for each request. `Connection` checks for idle clients.
  keepAliveTimeout: 0,
};

/**
 * Serves a gateway, or your own `Service`, on node:http. Resolves when the server listens.
 * @throws {ListenError} if the address cannot be listened on
 * @throws {CertificateError} if the certificate cannot be used
 * @throws {RangeError} for an unknown option, an invalid port, or a limit that is not a positive integer
 * @throws {TypeError} if `service` is not a gateway, such as the promise of one
 */
export async function serve(service: Service, options: ServeOptions = {}): Promise<Required<Listening>> {
  requireService('serve', service);
  checkOptions(options);
  const {
    handle,
    shed,
    rejectHttp = defaultRejection,
    maxBodyBytes = defaultBodyBytes,
    maxStreamBytes = maxBodyBytes,
  } = service;
  const { host = '127.0.0.1', port = 0, reusePort = false, tls, maxConnections = Infinity } = options;
  const { maxHeaderBytes = 16_384, maxUnsentBytes = defaultUnsentBytes } = options;
  const limits = { maxBodyBytes, maxStreamBytes, maxHeaderBytes };

  const drain = new Drain();
  const handleOrReject = (request: NodeRequest) =>
    request.rejection ? rejectHttp(request, request.rejection) : (shed?.(request) ?? handle(request));
  const responder = new Responder(handleOrReject, maxUnsentBytes, drain.recheck);
  const sockets = new OpenSockets(options);
  /** HTTP connections, without WebSockets; over TLS, after the handshake. */
  const connections = new Map<Socket, Connection>();
  /** Number of open TCP connections. */
  let tcpConnections = 0;

  const serverOptions: Http.ServerOptions = {
    ...timeLimits,
    IncomingMessage: Message,
    // `RequestHead` checks the exact limits. This one only limits how much the parser buffers before that.
    maxHeaderSize: 2 * maxHeaderBytes + 16_384,
    // `RequestHead` checks it, without Node's object of all headers.
    requireHostHeader: false,
    insecureHTTPParser: false,
  };
  const tlsServer = tls && (await createTlsServer(serverOptions, tls));
  const server = tlsServer ?? http.createServer(serverOptions);
  // By default, Node drops headers after the first 1,000.
  server.maxHeadersCount = 0;

  server.on('connection', (socket: Socket) => {
    tcpConnections += 1;
    socket.once('close', () => {
      tcpConnections -= 1;
      drain.recheck();
    });
    const isBusy = tcpConnections > maxConnections;
    if (!isBusy && !tls) track(socket);
    if (!isBusy) return;
    // Before the TLS handshake, no response can be sent.
    if (tls) socket.destroy();
    else writeLast(socket, busyResponse);
  });
  if (tls) server.on('secureConnection', track);

  function track(socket: Socket): void {
    const connection = new Connection(socket);
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      connection.onClose();
    });
  }

  const turn = new TurnCounter();
  /** Of connections with a request beyond `maxRequestsPerTurn` in this turn of the event loop: how much of them was read. */
  const late = new Map<Socket, number>();
  /** Connections that close after the response to a request that has already arrived. */
  const ending = new WeakSet<Socket>();
  const receive = (message: Http.IncomingMessage, res: Http.ServerResponse) => {
    const { socket } = message;
    // The connection is already closing, and the client is still sending. After the last request of a connection, further
    // ones must not be processed (RFC 9112 §9.6), and their start may be uncertain.
    if (!socket.writable || ending.has(socket)) return;
    if (turn.next() > maxRequestsPerTurn) {
      // Both arrived together, so the client pipelines. One that waits for responses may be read again within a turn.
      if (late.get(socket) === socket.bytesRead) {
        socket.destroy();
        return;
      }
      if (late.size === 0) setImmediate(() => late.clear());
      late.set(socket, socket.bytesRead);
    }
    const request = new ServedRequest(message, res, limits, connections);
    if (request.isLast) ending.add(socket);
    responder.receive(request);
  };
  server.on('request', receive);
  server.on('checkContinue', receive);
  server.on('checkExpectation', receive);

  /** Rejects input that is not a valid request, and closes the connection. */
  function reject(socket: Socket, rejection: HttpRejection | undefined): void {
    // While a request is being handled, the client would take the rejection for the response to that request.
    const isResponding = (connections.get(socket)?.requests.size ?? 0) > 0;
    if (!rejection || !socket.writable || isResponding || socket.bytesRead === 0) socket.destroy();
    else writeLast(socket, rejectHttp(unreadRequest(socket.remoteAddress), rejection));
  }
  server.on('clientError', (error: NodeJS.ErrnoException, stream) =>
    reject(stream as Socket, parseRejection(error.code)),
  );
  server.on('connect', (_message, stream) => {
    stream.on('error', () => {});
    reject(stream as Socket, connectRejection);
  });

  const endWebSockets = attachWebSockets(server, {
    service,
    sockets,
    responder,
    receive: (message, res) => new ServedRequest(message, res, limits, connections),
    // WebSockets have their own timeouts.
    onUpgrade: (socket) => connections.delete(socket),
  });

  const address = await startListening(server, { host, port, reusePort });
  server.on('error', () => {});
  const timer = setInterval(() => {
    for (const connection of connections.values()) connection.check();
  }, connectionCheckMs).unref();

  async function stop(closeOptions: CloseOptions): Promise<number> {
    // Not `server.close()`, which closes idle connections: a request may already be in transit.
    NetServer.prototype.close.call(server);
    responder.drain();
    sockets.drain(closeOptions.graceMs);
    await drain.wait(
      {
        connections: () => tcpConnections - sockets.closingSockets,
        calls: () => responder.inFlight + sockets.size,
      },
      closeOptions,
    );
    const cutOff = responder.inFlight + sockets.inFlight;
    sockets.closeAll();
    endWebSockets();
    clearInterval(timer);
    server.closeAllConnections();
    server.close();
    return cutOff;
  }

  let stopping: Promise<number> | undefined;
  return {
    host,
    port: address.port,
    inFlight: () => responder.inFlight + sockets.inFlight,
    connections: () => ({
      http: tcpConnections - sockets.size - sockets.closingSockets,
      webSockets: sockets.size,
    }),
    close: (closeOptions = {}) => (stopping ??= stop(closeOptions)),
    async reloadCertificate() {
      if (tlsServer && tls) await reloadCertificate(tlsServer, tls);
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

/** Writes a response without a request, and closes the connection. */
function writeLast(socket: Socket, response: HttpResponse): void {
  const body = bufferedBody(response.body);
  const head = headOf(response);
  socket.write(
    `HTTP/1.1 ${head}\r\nDate: ${httpDate()}\r\nConnection: close\r\nContent-Length: ${byteLength(body)}\r\n\r\n`,
  );
  socket.write(body);
  socket.destroySoon();
}
