import type * as Http from 'node:http';
import type { Server, Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import type { HttpResponse } from '../../http/response.ts';
import { defaultMessageBytes, type Service } from '../../http/service.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { closedWithinMs, type OpenSockets } from '../server/openSockets.ts';
import { defaultRejection, internalErrorResponse, stoppingResponse } from '../server/rejections.ts';
import { http } from './builtins.ts';
import type { NodeRequest } from './request.ts';
import type { Responder } from './responder.ts';
import { NativeSocket, NodeSocket } from './socket.ts';

type Serves = (url: string) => boolean;

export interface WebSocketsOptions {
  readonly service: Service;
  readonly sockets: OpenSockets;
  readonly responder: Responder;
  readonly receive: (message: Http.IncomingMessage, res: Http.ServerResponse) => NodeRequest;
  /**
   * Whether the service serves a target. Upgrades of other targets are left to the server's other listeners. Default:
   * all targets.
   */
  readonly serves?: Serves | undefined;
  /** Called when a connection has become a WebSocket. */
  readonly onUpgrade?: (connection: Socket) => void;
}

/** The `serves` of each service that is attached to a server. */
const servesByServer = new WeakMap<Server, Serves[]>();

function registeredServes(server: Server): Serves[] {
  const registered = servesByServer.get(server) ?? [];
  servesByServer.set(server, registered);
  return registered;
}

/** Time for clients to read unsent bytes after the server has stopped. */
const unsentBytesGraceMs = 1000;

/** An upgrade request as Node emits it. The listener owns the connection from then on. */
interface UpgradeRequest {
  readonly message: Http.IncomingMessage;
  readonly connection: Socket;
  /** Bytes that arrived after the request. */
  readonly head: Buffer;
}

/**
 * Opens WebSockets on a server of `node:http` or `node:https`. Upgrade requests to other protocols are handled as
 * normal requests.
 * @returns a function that ends the connections of all WebSockets
 */
export function attachWebSockets(server: Server, options: WebSocketsOptions): () => void {
  const { service, sockets, responder, receive, serves = () => true, onUpgrade } = options;
  const { rejectHttp = defaultRejection } = service;
  const { maxMessageBytes = defaultMessageBytes, maxUnauthenticatedBytes = defaultMessageBytes } = service;
  const admitted = createOpener(maxMessageBytes);
  const unauthenticated = createOpener(Math.min(maxMessageBytes, maxUnauthenticatedBytes));
  const registered = registeredServes(server);
  registered.push(serves);
  /** Open connections of WebSockets. */
  const connections = new Set<Socket>();

  server.on('upgrade', (message: Http.IncomingMessage, connection: Socket, head: Buffer) => {
    // `LeanMessage` ends the parsing of a closed connection by an upgrade.
    if (connection.destroyed) return;
    const upgrade = { message, connection, head };
    if (!serves(message.url ?? '')) {
      // Node handles an upgrade as a normal request only if there is no listener.
      const isServed = registered.some((each) => each(message.url ?? ''));
      const hasOthers = server.listenerCount('upgrade') > registered.length;
      if (!isServed && !hasOthers && serves === registered[0]) handleAsRequest(server, upgrade);
      return;
    }
    // Removed and added again, since one connection may emit `upgrade` several times.
    connection.off('error', ignore).on('error', ignore);
    const res = new http.ServerResponse(message);
    try {
      res.assignSocket(connection);
    } catch {
      // Pipelined after a request whose response would be written into the WebSocket.
      return void connection.destroy();
    }
    const request = receive(message, res);
    const decision = isWebSocketRequest(message) && !request.rejection && decide(request);
    if (!decision) {
      res.detachSocket(connection);
      return handleAsRequest(server, upgrade);
    }
    // Node's parser has left the connection, so no other request can follow.
    res.shouldKeepAlive = false;
    res.on('finish', () => {
      res.detachSocket(connection);
      connection.destroySoon();
    });
    if (typeof decision === 'function') open(upgrade, request, decision);
    else if (decision instanceof Promise) responder.count(finish(upgrade, request, decision));
    else responder.respond(request, decision);
  });
  if (registered.length === 1) handleBodiesAsRequests(server, registered);

  /**
   * Lets the service decide whether to open a WebSocket. Returns a 500 if the service throws, which violates its
   * contract.
   */
  function decide(request: NodeRequest): HttpResponse | ReturnType<NonNullable<Service['upgrade']>> {
    if (sockets.isStopping) return stoppingResponse;
    try {
      return service.shed?.(request) ?? service.upgrade?.(request);
    } catch {
      return internalErrorResponse;
    }
  }

  async function finish(
    upgrade: UpgradeRequest,
    request: NodeRequest,
    decision: Promise<SocketAcceptor | HttpResponse>,
  ): Promise<void> {
    const { connection } = upgrade;
    request.keep();
    const end = () => connection.destroy();
    connection.on('end', end);
    const awaited = await decision.catch(() => internalErrorResponse);
    connection.off('end', end);
    const outcome = sockets.isStopping ? stoppingResponse : awaited;
    if (typeof outcome !== 'function') responder.respond(request, outcome);
    else if (!connection.destroyed) open(upgrade, request, outcome);
  }

  function open(
    { message, connection, head }: UpgradeRequest,
    request: NodeRequest,
    accept: SocketAcceptor,
  ): void {
    const { native, maxBytes } = accept.isUnauthenticated ? unauthenticated : admitted;
    const reject = ({ message: reason }: Error) => {
      const rejection = { status: 400, code: 'BAD_REQUEST', message: `${reason}.` };
      responder.respond(request, rejectHttp(request, rejection));
    };
    // ws emits it within `handleUpgrade`.
    native.once('wsClientError', reject);
    native.handleUpgrade(message, connection, head, (ws) => {
      request.res.detachSocket(connection);
      request.onUpgrade();
      onUpgrade?.(connection);
      connections.add(connection);
      connection.once('close', () => connections.delete(connection));
      const onClosed = (calls: Promise<void>) => {
        request.onDisconnect();
        responder.count(calls);
      };
      const socket = new NodeSocket({
        ws,
        connection,
        openSockets: sockets,
        maxMessageBytes: maxBytes,
        onClosed,
      });
      try {
        socket.handler = accept(socket);
      } catch {
        // An acceptor must not throw. Rethrown here, the error would end the process.
        socket.close(1011);
      }
    });
    native.off('wsClientError', reject);
  }

  return () => {
    for (const connection of connections) {
      connection.destroySoon();
      // In case the client does not read.
      setTimeout(() => connection.destroy(), unsentBytesGraceMs).unref();
    }
  };
}

/** Creates a server of ws, which has one limit for the size of messages. */
function createOpener(maxBytes: number) {
  // 0 would be no limit, and ws uses the lower 32 bits.
  const maxPayload = Math.min(Math.max(maxBytes, 1), 0x7fff_ffff);
  // Each fragment of an unfinished message takes extra memory: 20,000 packets of one byte took 2.5 MB.
  const maxFragments = 64 + Math.ceil(maxPayload / 256);
  const options = {
    noServer: true,
    WebSocket: NativeSocket,
    clientTracking: false,
    // `NodeSocket` sends pongs, within the limits.
    autoPong: false,
    maxPayload,
    maxFragments,
    maxBufferedChunks: maxFragments,
    // Missing in the types of ws 8.18.
    closeTimeout: closedWithinMs,
  };
  return { native: new WebSocketServer<typeof NativeSocket>(options), maxBytes };
}

/** Whether a request is a valid WebSocket upgrade (RFC 6455 §4.2.1). Node emits `upgrade` for any `Upgrade` header. */
function isWebSocketRequest(message: Http.IncomingMessage): boolean {
  const { headers, httpVersion, method } = message;
  const options = new Set(headerOptions(headers.connection).map((option) => option.toLowerCase()));
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    options.has('upgrade') &&
    !options.has('close') &&
    !hasBody(message)
  );
}

const hasBody = ({ headers }: Http.IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Returns the options in a `Connection` header (RFC 9110 §7.6.1). */
const headerOptions = (value = '') => value.split(',').map((option) => option.trim());

/**
 * Makes Node handle upgrade requests with a body as normal requests, as it does without an `upgrade` listener: the
 * first request of Java's HttpClient on a connection offers HTTP/2. The method exists from Node 22.21 and 24.9 on,
 * where it is documented as an option of `createServer`.
 */
function handleBodiesAsRequests(server: Server, registered: readonly Serves[]): void {
  const serverWithCallback: Server & { shouldUpgradeCallback?: (message: Http.IncomingMessage) => boolean } =
    server;
  const { shouldUpgradeCallback } = serverWithCallback;
  if (!shouldUpgradeCallback) return;
  serverWithCallback.shouldUpgradeCallback = (message) => {
    if (registered.some((serves) => serves(message.url ?? ''))) return !hasBody(message);
    return server.listenerCount('upgrade') > registered.length && shouldUpgradeCallback.call(server, message);
  };
}

/** Returns a connection to the server, with its request rewritten to one without an upgrade. */
function handleAsRequest(server: Server, { message, connection, head }: UpgradeRequest): void {
  const { httpVersion, method = '', rawHeaders, url = '' } = message;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const kept = headerOptions(value).filter((option) => option.toLowerCase() !== 'upgrade');
    lines.push(`${name}: ${name.toLowerCase() === 'connection' ? kept.join(', ') : value}`);
  }
  connection.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('encrypted' in connection ? 'secureConnection' : 'connection', connection);
}

const ignore = () => {};
