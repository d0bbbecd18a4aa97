import type * as Http from 'node:http';
import type { Server, Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import type { HttpResponse } from '../../http/response.ts';
import { defaultMessageBytes, type Service } from '../../http/service.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { closedWithinMs, type OpenSockets } from '../server/openSockets.ts';
import { defaultRejection, internalError, stopping } from '../server/rejections.ts';
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
  /** Whether a target is the service's. Upgrades of others are left to the other listeners of the server. Default: all are. */
  readonly serves?: Serves | undefined;
  /** A connection has become a WebSocket. */
  readonly onUpgrade?: (connection: Socket) => void;
}

/** What each service of a server serves. */
const attached = new WeakMap<Server, Serves[]>();

function attachedTo(server: Server): Serves[] {
  const all = attached.get(server) ?? [];
  attached.set(server, all);
  return all;
}

/** How long a client may take to read what is unsent when a server has stopped. */
const lastBytesMs = 1000;

/** A request that Node takes for an upgrade. From then on the listener owns its connection. */
interface Upgrading {
  readonly message: Http.IncomingMessage;
  readonly connection: Socket;
  /** What arrived behind the request. */
  readonly head: Buffer;
}

/**
 * Opens WebSockets on a server of `node:http` or `node:https`. Requests for other upgrades are handled as requests.
 * @returns ends the connections of all
 */
export function attachWebSockets(server: Server, options: WebSocketsOptions): () => void {
  const { service, sockets, responder, receive, serves = () => true, onUpgrade } = options;
  const { rejectHttp = defaultRejection } = service;
  const { maxMessageBytes = defaultMessageBytes, maxUnauthenticatedBytes = defaultMessageBytes } = service;
  const admitted = openerOf(maxMessageBytes);
  const unauthenticated = openerOf(Math.min(maxMessageBytes, maxUnauthenticatedBytes));
  const all = attachedTo(server);
  all.push(serves);
  /** Those of WebSockets, until they end. */
  const connections = new Set<Socket>();

  server.on('upgrade', (message: Http.IncomingMessage, connection: Socket, head: Buffer) => {
    const upgrading = { message, connection, head };
    if (!serves(message.url ?? '')) {
      // Without a listener Node would handle it as a request.
      const isTaken = all.some((each) => each(message.url ?? ''));
      const hasOthers = server.listenerCount('upgrade') > all.length;
      if (!isTaken && !hasOthers && serves === all[0]) handleAsRequest(server, upgrading);
      return;
    }
    // The same listener each time: one connection may get here often.
    connection.off('error', ignore).on('error', ignore);
    const res = new http.ServerResponse(message);
    try {
      res.assignSocket(connection);
    } catch {
      // Pipelined behind a request whose response would be written into the WebSocket.
      return void connection.destroy();
    }
    const request = receive(message, res);
    const decided = isWebSocketRequest(message) && !request.rejection && decisionOn(request);
    if (!decided) {
      res.detachSocket(connection);
      return handleAsRequest(server, upgrading);
    }
    // Node's parser has left the connection, so no other request can follow.
    res.shouldKeepAlive = false;
    res.on('finish', () => {
      res.detachSocket(connection);
      connection.destroySoon();
    });
    if (typeof decided === 'function') open(upgrading, request, decided);
    else if (decided instanceof Promise) responder.count(finish(upgrading, request, decided));
    else responder.respond(request, decided);
  });
  if (all.length === 1) handleBodiesAsRequests(server, all);

  /** What the service decides on a request: 500 where it throws, which it must not. */
  function decisionOn(request: NodeRequest): HttpResponse | ReturnType<NonNullable<Service['upgrade']>> {
    if (sockets.isStopping) return stopping;
    try {
      return service.shed?.(request) ?? service.upgrade?.(request);
    } catch {
      return internalError;
    }
  }

  async function finish(
    upgrading: Upgrading,
    request: NodeRequest,
    decided: Promise<SocketAcceptor | HttpResponse>,
  ): Promise<void> {
    const { connection } = upgrading;
    request.keep();
    const end = () => connection.destroy();
    connection.on('end', end);
    const awaited = await decided.catch(() => internalError);
    connection.off('end', end);
    const outcome = sockets.isStopping ? stopping : awaited;
    if (typeof outcome !== 'function') responder.respond(request, outcome);
    else if (!connection.destroyed) open(upgrading, request, outcome);
  }

  function open(
    { message, connection, head }: Upgrading,
    request: NodeRequest,
    accept: SocketAcceptor,
  ): void {
    const { native, maxBytes } = accept.isUnauthenticated ? unauthenticated : admitted;
    const reject = ({ message: reason }: Error) => {
      const rejection = { status: 400, code: 'BAD_REQUEST', message: `${reason}.` };
      responder.respond(request, rejectHttp(request, rejection));
    };
    // At once, if at all.
    native.once('wsClientError', reject);
    native.handleUpgrade(message, connection, head, (ws) => {
      request.res.detachSocket(connection);
      request.upgrades();
      onUpgrade?.(connection);
      connections.add(connection);
      connection.once('close', () => connections.delete(connection));
      const onClosed = (calls: Promise<void>) => {
        request.aborted();
        responder.count(calls);
      };
      const socket = new NodeSocket({ ws, connection, all: sockets, maxMessageBytes: maxBytes, onClosed });
      try {
        socket.handler = accept(socket);
      } catch {
        // It must not throw: from here, that would end the process.
        socket.close(1011);
      }
    });
    native.off('wsClientError', reject);
  }

  return () => {
    for (const connection of connections) {
      connection.destroySoon();
      // A client that does not read.
      setTimeout(() => connection.destroy(), lastBytesMs).unref();
    }
  };
}

/** Opens sockets with a limit of their messages: ws has one for each of its servers. */
function openerOf(maxBytes: number) {
  // 0 is no limit, and ws takes 32 bits of it.
  const maxPayload = Math.min(Math.max(maxBytes, 1), 0x7fff_ffff);
  // Each part of an unfinished message takes memory of its own: 20,000 packets of a byte took 2.5 MB.
  const maxParts = 64 + Math.ceil(maxPayload / 256);
  const options = {
    noServer: true,
    WebSocket: NativeSocket,
    clientTracking: false,
    // `NodeSocket` sends them, within the limits.
    autoPong: false,
    maxPayload,
    maxFragments: maxParts,
    maxBufferedChunks: maxParts,
    // Not in the types of 8.18.
    closeTimeout: closedWithinMs,
  };
  return { native: new WebSocketServer<typeof NativeSocket>(options), maxBytes };
}

/** Whether a request asks for a WebSocket (RFC 6455 §4.2.1) and nothing else: Node takes any that names an upgrade. */
function isWebSocketRequest(message: Http.IncomingMessage): boolean {
  const { headers, httpVersion, method } = message;
  const options = new Set(optionsOf(headers.connection).map((option) => option.toLowerCase()));
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

/** The options of a `Connection` header (RFC 9110 §7.6.1). */
const optionsOf = (value = '') => value.split(',').map((option) => option.trim());

/**
 * Makes Node handle requests for upgrades that have a body as it does without a listener: Java's HttpClient names HTTP/2 in
 * each first request. Node 22.21 and 24.9 have this method, and document it as an option of `createServer`.
 */
function handleBodiesAsRequests(server: Server, all: readonly Serves[]): void {
  const hooked: Server & { shouldUpgradeCallback?: (message: Http.IncomingMessage) => boolean } = server;
  const { shouldUpgradeCallback } = hooked;
  if (!shouldUpgradeCallback) return;
  hooked.shouldUpgradeCallback = (message) => {
    if (all.some((serves) => serves(message.url ?? ''))) return !hasBody(message);
    return server.listenerCount('upgrade') > all.length && shouldUpgradeCallback.call(server, message);
  };
}

/** Returns the connection to the server, with its request as one that names no upgrade. */
function handleAsRequest(server: Server, { message, connection, head }: Upgrading): void {
  const { httpVersion, method = '', rawHeaders, url = '' } = message;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const kept = optionsOf(value).filter((option) => option.toLowerCase() !== 'upgrade');
    lines.push(`${name}: ${name.toLowerCase() === 'connection' ? kept.join(', ') : value}`);
  }
  connection.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('encrypted' in connection ? 'secureConnection' : 'connection', connection);
}

const ignore = () => {};
