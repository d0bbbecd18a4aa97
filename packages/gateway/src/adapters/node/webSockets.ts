import type * as Http from 'node:http';
import type { Server, Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import type { HttpResponse } from '../../http/response.ts';
import { defaultMessageBytes, type Service } from '../../http/service.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { closedWithinMs, type OpenSockets } from '../serve/openSockets.ts';
import { badRequest, defaultRejection } from '../serve/rejections.ts';
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
  readonly onUpgrade?: (connection: Socket) => void;
}

/** Documented as an option of `createServer`; missing in its types. */
type UpgradeServer = Server & { shouldUpgradeCallback?: (message: Http.IncomingMessage) => boolean };

export const opensWebSockets = (): boolean =>
  (http.createServer() as UpgradeServer).shouldUpgradeCallback !== undefined;

/** Time for clients to read unsent bytes after the server has stopped. */
const unsentBytesGraceMs = 1000;

/**
 * Opens WebSockets on a server of `node:http` or `node:https`. All other upgrade requests are left to the server: to its
 * other `upgrade` listeners, or, at a target that the service serves, to its request listener.
 * A version of Node without `shouldUpgradeCallback` opens none, with a warning.
 * @returns a function that ends the connections of all WebSockets
 */
export function attachWebSockets(server: UpgradeServer, options: WebSocketsOptions): () => void {
  const { service, sockets, responder, serves = () => true } = options;
  const { maxMessageSize = defaultMessageBytes, rejectHttp = defaultRejection } = service;
  const { shouldUpgradeCallback } = server;
  if (!shouldUpgradeCallback) {
    if (service.upgrade) {
      const needs = `WebSockets need Node 22.21, 24.9 or newer, and this is ${process.version}.`;
      process.emitWarning(`${needs} All else is served.`);
    }
    return () => {};
  }
  const opener = createOpener(maxMessageSize);
  const connections = new Set<Socket>();

  /** Returns the listener that opens or rejects a WebSocket; `undefined` if the service has none at the path. */
  function decide(message: Http.IncomingMessage): UpgradeListener | undefined {
    const connection = message.socket;
    const res = new http.ServerResponse(message);
    const request = options.receive(message, res);
    if (!request.isUpgrade) return undefined;
    try {
      res.assignSocket(connection);
    } catch {
      // Pipelined after a request whose response would be written into the WebSocket.
      return () => connection.destroy();
    }
    const decision = sockets.decide(request);
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
      const finish = (outcome: SocketAcceptor | HttpResponse) => {
        if (typeof outcome !== 'function') responder.respond(request, outcome);
        else if (!connection.destroyed) open(message, request, head, outcome);
      };
      if (!(decision instanceof Promise)) return finish(decision);
      request.keep();
      const end = () => connection.destroy();
      connection.on('end', end);
      const settled = sockets.settle(decision).then((outcome) => {
        connection.off('end', end);
        finish(outcome);
      });
      responder.count(settled);
    };
  }

  /** @param head the bytes that arrived after the request */
  function open(
    message: Http.IncomingMessage,
    request: NodeRequest,
    head: Buffer,
    accept: SocketAcceptor,
  ): void {
    const { connection } = request;
    const reject = ({ message: reason }: Error) => {
      responder.respond(request, rejectHttp(request, badRequest(`${reason}.`)));
    };
    // ws emits it within `handleUpgrade`.
    opener.once('wsClientError', reject);
    opener.handleUpgrade(message, connection, head, (ws) => {
      request.res.detachSocket(connection);
      request.onUpgrade();
      options.onUpgrade?.(connection);
      connections.add(connection);
      connection.once('close', () => connections.delete(connection));
      const onClosed = (calls: Promise<void>) => {
        request.onDisconnect();
        responder.count(calls);
      };
      new NodeSocket(ws, sockets, { connection, maxMessageSize, onClosed }).accept(accept);
    });
    opener.off('wsClientError', reject);
  }

  server.shouldUpgradeCallback = (message) => {
    // `serve` stops the parser of a closed connection by an upgrade.
    if (message.socket.destroyed) return true;
    if (!serves(message.url ?? '')) return shouldUpgradeCallback.call(server, message);
    const upgrade = decide(message);
    if (!upgrade) return false;
    // Node emits the event when this has returned. With a permanent listener, it would treat no upgrade as a request.
    server.once('upgrade', upgrade);
    return true;
  };
  return () => endAll(connections);
}

function endAll(connections: ReadonlySet<Socket>): void {
  for (const connection of connections) {
    connection.destroySoon();
    // In case the client does not read.
    setTimeout(() => connection.destroy(), unsentBytesGraceMs).unref();
  }
}

type UpgradeListener = (message: Http.IncomingMessage, connection: Socket, head: Buffer) => void;

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
  return new WebSocketServer<typeof NativeSocket>(options);
}
