import type * as Http from 'node:http';
import { once } from 'node:events';
import { Server as NetServer, type AddressInfo, type ListenOptions, type Socket } from 'node:net';
import type { HttpResponse } from '../../http/response.ts';
import { defaultBodyBytes, type HttpRejection, type Service } from '../../http/service.ts';
import { Drain } from '../server/drain.ts';
import { ListenError } from '../server/listenError.ts';
import { OpenSockets } from '../server/openSockets.ts';
import { busy, defaultRejection } from '../server/rejections.ts';
import { byteLength, headOf, wholeBody } from '../server/responseHead.ts';
import {
  checkOptions,
  requireService,
  type CloseOptions,
  type Listening,
  type ServeOptions,
} from '../server/serveOptions.ts';
import { http } from './builtins.ts';
import { Connection } from './connection.ts';
import { httpDate } from './httpDate.ts';
import { LeanMessage, LeanResponse } from './lean.ts';
import { supportsLean } from './leanCheck.ts';
import { connectRejection, parseRejection, unreadRequest } from './parseRejection.ts';
import type { NodeRequest } from './request.ts';
import { Responder } from './responder.ts';
import { ServedRequest } from './servedRequest.ts';
import { createTlsServer, reloadCertificate } from './tls.ts';
import { attachWebSockets } from './webSockets.ts';

const lean: Http.ServerOptions<typeof LeanMessage, typeof LeanResponse> = {
  IncomingMessage: LeanMessage,
  ServerResponse: LeanResponse,
};

/** How often connections are checked: for what their clients do, and for the times of `timeLimits`. */
const checkMs = 1000;

/** Against clients that send slowly. A connection of which nothing comes at all is ended after 11 to 12 s (`Connection`). */
const timeLimits = {
  /** The whole head must be there after so long. */
  headersTimeout: 20_000,
  /** The whole request must be there after so long. Node's default. */
  requestTimeout: 300_000,
  connectionsCheckingInterval: checkMs,
  // Each would set a timer for each request: `Connection` does without.
  keepAliveTimeout: 0,
};

/**
 * Serves a gateway, or anything else that answers requests, on node:http.
 * @throws {ListenError} where it cannot listen
 * @throws {CertificateError} where the certificate cannot be served
 * @throws {RangeError} for an unknown option, an invalid port, and a limit that is not a positive integer
 * @throws {TypeError} for what is not a gateway, such as the promise of one
 */
export async function serve(service: Service, options: ServeOptions = {}): Promise<Listening> {
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
  const { maxUrlBytes = 16_384, maxHeaderBytes = 16_384, maxUnsentBytes = 268_435_456 } = options;
  const limits = { maxBodyBytes, maxStreamBytes, maxUrlBytes, maxHeaderBytes };

  const drain = new Drain();
  const received = (request: NodeRequest) =>
    request.rejection ? rejectHttp(request, request.rejection) : (shed?.(request) ?? handle(request));
  const responder = new Responder(received, maxUnsentBytes, drain.changed);
  const sockets = new OpenSockets(options);
  /** Those that are no WebSockets. Over TLS, after the handshake. */
  const connections = new Map<Socket, Connection>();
  /** How many connections of TCP are open. */
  let open = 0;

  const serverOptions: Http.ServerOptions = {
    ...timeLimits,
    ...((await supportsLean()) && (lean as Http.ServerOptions)),
    // The gateway's own limits are exact, and checked before. This one bounds what is read until then.
    maxHeaderSize: maxUrlBytes + maxHeaderBytes + 16_384,
    // `RequestHead` checks it, and its check needs no object of all headers.
    requireHostHeader: false,
    insecureHTTPParser: false,
  };
  const secure = tls && (await createTlsServer(serverOptions, tls));
  const server = secure ?? http.createServer(serverOptions);
  // Node would leave out headers beyond 1,000.
  server.maxHeadersCount = 0;

  server.on('connection', (socket: Socket) => {
    // Again, for a WebSocket that was not opened.
    if (connections.has(socket)) return;
    open += 1;
    socket.once('close', () => {
      open -= 1;
      drain.changed();
    });
    const isBusy = open > maxConnections;
    if (!isBusy && !tls) track(socket);
    if (!isBusy) return;
    // Before the handshake nothing can be sent.
    if (tls) socket.destroy();
    else writeLast(socket, busy);
  });
  if (tls) server.on('secureConnection', (socket: Socket) => connections.has(socket) || track(socket));

  function track(socket: Socket): void {
    const connection = new Connection(socket);
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      connection.closed();
    });
  }

  const receive = (message: Http.IncomingMessage, res: Http.ServerResponse) => {
    // What a client sends that was told to go away.
    if (!message.socket.writable) return;
    responder.receive(new ServedRequest(message, res, limits, connections));
  };
  server.on('request', receive);
  server.on('checkContinue', receive);
  server.on('checkExpectation', receive);

  /** Rejects what is no request, and closes its connection. */
  function reject(socket: Socket, rejection: HttpRejection | undefined): void {
    // It would be taken for the response to a request that is still being handled.
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
    // It has other times.
    onUpgrade: (socket) => connections.delete(socket),
  });

  const address = await listen(server, { host, port, reusePort });
  server.on('error', () => {});
  const timer = setInterval(() => {
    for (const connection of connections.values()) connection.check();
  }, checkMs).unref();

  async function stop(closeOptions: CloseOptions): Promise<number> {
    // Not the server's own `close`, which ends idle connections: they may have a request on its way.
    NetServer.prototype.close.call(server);
    responder.drain();
    sockets.drain();
    await drain.wait(
      { connections: () => open - sockets.closing, calls: () => responder.inFlight + sockets.size },
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

  let stopped: Promise<number> | undefined;
  return {
    host,
    port: address.port,
    inFlight: () => responder.inFlight + sockets.inFlight,
    connections: () => ({ http: open - sockets.size - sockets.closing, webSockets: sockets.size }),
    close: (closeOptions = {}) => (stopped ??= stop(closeOptions)),
    async reloadCertificate() {
      if (secure && tls) await reloadCertificate(secure, tls);
    },
  };
}

/** @throws {ListenError} */
async function listen(server: NetServer, options: ListenOptions): Promise<AddressInfo> {
  const { host = '', port = 0 } = options;
  try {
    server.listen({ ...options, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    // Where ports cannot be shared (macOS, Windows) the first process has it alone.
    if (cause.code === 'ENOTSUP' && options.reusePort)
      return listen(server, { ...options, reusePort: false });
    throw ListenError.from(cause, host, port);
  }
  return server.address() as AddressInfo;
}

/** Writes a response outside of any request, and closes the connection. */
function writeLast(socket: Socket, response: HttpResponse): void {
  const body = wholeBody(response.body);
  const head = headOf(response);
  socket.write(
    `HTTP/1.1 ${head}\r\nDate: ${httpDate()}\r\nConnection: close\r\nContent-Length: ${byteLength(body)}\r\n\r\n`,
  );
  socket.write(body);
  socket.destroySoon();
}
