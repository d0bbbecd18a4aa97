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
import type { NodeResponder } from './responder.ts';
import { NativeSocket, NodeSocket } from './socket.ts';

interface WebSocketsOptions {
  readonly service: Service;
  readonly sockets: OpenSockets;
  readonly responder: NodeResponder;
  readonly receive: (message: Http.IncomingMessage, res: Http.ServerResponse) => NodeRequest;
  /** Whether the service serves a target. Default: all targets. */
  readonly serves?: (url: string) => boolean;
  /** Called when a connection has become a WebSocket. */
  readonly onUpgrade?: (connection: Socket) => void;
}

/** Documented as an option of `createServer`; missing in its types. */
type UpgradeServer = Server & { shouldUpgradeCallback?: (message: Http.IncomingMessage) => boolean };

/** Time for clients to read unsent bytes after the server has stopped. */
const unsentBytesGraceMs = 1000;

/**
 * Opens WebSockets on a server of `node:http` or `node:https`. All other upgrade requests are left to the server: to its
 * other `upgrade` listeners, or, at a target that the service serves, to its request listener.
 * @returns a function that ends the connections of all WebSockets
 * @throws {Error} on a version of Node without `shouldUpgradeCallback`
 */
export function attachWebSockets(server: UpgradeServer, options: WebSocketsOptions): () => void {
  const { serves = () => true } = options;
  const { shouldUpgradeCallback } = server;
  if (!shouldUpgradeCallback) {
    throw new Error(
      `WebSockets need Node 22.21, 24.9 or newer, and this is ${process.version}. Update Node.`,
    );
  }
  const upgrades = new Upgrades(options);
  server.shouldUpgradeCallback = (message) => {
    // `serve` stops the parser of a closed connection by an upgrade.
    if (message.socket.destroyed) return true;
    if (!serves(message.url ?? '')) return shouldUpgradeCallback.call(server, message);
    const upgrade = isWebSocketRequest(message) && upgrades.decide(message);
    if (!upgrade) return false;
    // Node emits the event as soon as this has returned. With a permanent listener, Node would emit the upgrades of all
    // targets, and handle none of them as a request.
    server.once('upgrade', upgrade);
    return true;
  };
  return () => upgrades.end();
}

type UpgradeListener = (message: Http.IncomingMessage, connection: Socket, head: Buffer) => void;
type Decision = NonNullable<ReturnType<NonNullable<Service['upgrade']>>>;

/** A valid upgrade request, and bytes that arrived after it. */
interface UpgradeRequest {
  readonly message: Http.IncomingMessage;
  readonly request: NodeRequest;
  readonly connection: Socket;
  readonly head: Buffer;
}

class Upgrades {
  readonly #options: WebSocketsOptions;
  readonly #admitted: Opener;
  readonly #unauthenticated: Opener;
  /** Open connections of WebSockets. */
  readonly #connections = new Set<Socket>();

  constructor(options: WebSocketsOptions) {
    const { maxMessageBytes = defaultMessageBytes, maxUnauthenticatedBytes = defaultMessageBytes } =
      options.service;
    this.#options = options;
    this.#admitted = createOpener(maxMessageBytes);
    this.#unauthenticated = createOpener(Math.min(maxMessageBytes, maxUnauthenticatedBytes));
  }

  /** Returns the listener that opens or rejects a WebSocket; `undefined` if the service has none at its path. */
  decide(message: Http.IncomingMessage): UpgradeListener | undefined {
    const { responder, receive } = this.#options;
    const connection = message.socket;
    const res = new http.ServerResponse(message);
    try {
      res.assignSocket(connection);
    } catch {
      // Pipelined after a request whose response would be written into the WebSocket.
      return () => connection.destroy();
    }
    const request = receive(message, res);
    const decision = request.rejection ? undefined : this.#askService(request);
    if (!decision) {
      res.detachSocket(connection);
      return undefined;
    }
    return (_message, _connection, head) => {
      connection.on('error', () => {});
      // Node's parser has left the connection, so no other request can follow.
      res.shouldKeepAlive = false;
      res.on('finish', () => {
        res.detachSocket(connection);
        connection.destroySoon();
      });
      const upgrade = { message, request, connection, head };
      if (typeof decision === 'function') this.#open(upgrade, decision);
      else if (decision instanceof Promise) responder.count(this.#finish(upgrade, decision));
      else responder.respond(request, decision);
    };
  }

  /** Ends the connections of all WebSockets. */
  end(): void {
    for (const connection of this.#connections) {
      connection.destroySoon();
      // In case the client does not read.
      setTimeout(() => connection.destroy(), unsentBytesGraceMs).unref();
    }
  }

  /** Returns a 500 if the service throws, which violates its contract. */
  #askService(request: NodeRequest): Decision | undefined {
    const { service, sockets } = this.#options;
    if (sockets.isStopping) return stoppingResponse;
    try {
      return service.shed?.(request) ?? service.upgrade?.(request);
    } catch {
      return internalErrorResponse;
    }
  }

  async #finish(upgrade: UpgradeRequest, decision: Promise<SocketAcceptor | HttpResponse>): Promise<void> {
    const { request, connection } = upgrade;
    const { responder, sockets } = this.#options;
    request.keep();
    const end = () => connection.destroy();
    connection.on('end', end);
    const awaited = await decision.catch(() => internalErrorResponse);
    connection.off('end', end);
    const outcome = sockets.isStopping ? stoppingResponse : awaited;
    if (typeof outcome !== 'function') responder.respond(request, outcome);
    else if (!connection.destroyed) this.#open(upgrade, outcome);
  }

  #open({ message, request, connection, head }: UpgradeRequest, accept: SocketAcceptor): void {
    const { service, sockets, responder, onUpgrade } = this.#options;
    const { rejectHttp = defaultRejection } = service;
    const { native, maxBytes } = accept.isUnauthenticated ? this.#unauthenticated : this.#admitted;
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
      this.#connections.add(connection);
      connection.once('close', () => this.#connections.delete(connection));
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
}

type Opener = ReturnType<typeof createOpener>;

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

/** Whether a request is a valid WebSocket upgrade (RFC 6455 §4.2.1). Node calls it for any `Upgrade` header. */
function isWebSocketRequest({ headers, httpVersion, method }: Http.IncomingMessage): boolean {
  const options = new Set(headers.connection?.toLowerCase().split(/[\t ]*,[\t ]*/));
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    options.has('upgrade') &&
    !options.has('close') &&
    !hasBody
  );
}
