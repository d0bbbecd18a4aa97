import type { HttpRequest, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import type { GatewaySocket, SocketAcceptor, SocketHandler } from '../http.ts';
import type { UwsRequest } from './request.ts';

/** What uWS keeps for us with each WebSocket. */
export interface SocketData {
  readonly request: UwsRequest;
  readonly accept: SocketAcceptor;
  socket?: UwsSocket;
}

/**
 * A message up to so many times the limit is taken and the socket closed with 1009; a larger one ends the connection
 * where its head says so: then uWebSockets.js 20 sends no close frame.
 */
const toleratedTimes = 4;

/** What the part of an upgrade that outlives its handler needs of it. */
export interface UpgradeHeaders {
  readonly key: string;
  readonly protocol: string;
  readonly extensions: string;
}

/**
 * Whether a request asks for a WebSocket (RFC 6455 §4.2.1): uWS only looks for a key. One that says `Connection: close`
 * it would open and close in one go, and throw; a body it would take for frames (uWebSockets.js 20).
 */
export function asksForSocket(req: HttpRequest): boolean {
  if (req.getHeader('upgrade').toLowerCase() !== 'websocket') return false;
  const connection = req
    .getHeader('connection')
    .toLowerCase()
    .split(/\s*,\s*/);
  const hasBody = req.getHeader('transfer-encoding') !== '' || Number(req.getHeader('content-length')) !== 0;
  return connection.includes('upgrade') && !connection.includes('close') && !hasBody;
}

/** Reads what `HttpResponse.upgrade` takes: like every header, only while the handler runs. */
export const upgradeHeaders = (req: HttpRequest): UpgradeHeaders => ({
  key: req.getHeader('sec-websocket-key'),
  // Of several that the client offers the first, as the package ws has it.
  protocol: req.getHeader('sec-websocket-protocol').split(',', 1)[0]?.trim() ?? '',
  extensions: req.getHeader('sec-websocket-extensions'),
});

/**
 * How WebSockets are served, but for the upgrade.
 * @param sockets holds those that are open
 * @param onClosed told of each that is closed, with what it has begun and what has not ended
 */
export function socketBehavior(
  maxMessageBytes: number,
  sockets: Set<UwsSocket>,
  onClosed: (request: UwsRequest, ended: Promise<void>) => void,
): Omit<WebSocketBehavior<SocketData>, 'upgrade'> {
  const owner = (ws: WebSocket<SocketData>) => ws.getUserData().socket;
  return {
    maxPayloadLength: maxMessageBytes * toleratedTimes,
    // 0 is no limit: with one, uWebSockets.js 20 drops what is sent beyond it and says so only in a return value. The
    // wire bounds what it sends by `bufferedBytes`.
    maxBackpressure: 0,
    // uWS pings a quiet client by itself, so this only ends those that are gone. They may have left without a word.
    idleTimeout: 120,
    sendPingsAutomatically: true,
    // uWS.DISABLED: compression costs memory for each socket, and CPU that a stranger can ask for.
    compression: 0,

    open(ws) {
      const data = ws.getUserData();
      const socket = new UwsSocket(ws);
      data.socket = socket;
      sockets.add(socket);
      try {
        socket.handler = data.accept(socket);
      } catch {
        // An owner breaks its promise never to throw: out of here, that would end the process.
        socket.close(1011);
      }
    },
    message(ws, message, isBinary) {
      const socket = owner(ws);
      if (message.byteLength > maxMessageBytes) {
        socket?.close(1009, `A message may have ${maxMessageBytes} bytes.`);
      } else {
        // uWS detaches the message's memory when this returns: it is copied, into Node's pool (a sixth of a call).
        socket?.handler?.message(Buffer.from(new Uint8Array(message)), isBinary);
      }
    },
    drain(ws) {
      owner(ws)?.handler?.drained();
    },
    close(ws) {
      const { socket, request } = ws.getUserData();
      request.aborted();
      if (socket === undefined) return;
      socket.isClosed = true;
      sockets.delete(socket);
      onClosed(request, Promise.resolve(socket.handler?.closed()));
    },
  };
}

/** A WebSocket of uWebSockets.js: once it is closed its every method would throw, so none is called then. */
export class UwsSocket implements GatewaySocket {
  handler: SocketHandler | undefined;
  isClosed = false;
  readonly #ws: WebSocket<SocketData>;

  constructor(ws: WebSocket<SocketData>) {
    this.#ws = ws;
  }

  get bufferedBytes(): number {
    return this.isClosed ? 0 : this.#ws.getBufferedAmount();
  }

  send(message: string | Uint8Array): void {
    if (!this.isClosed) this.#ws.send(message, typeof message !== 'string');
  }

  close(code?: number, reason?: string): void {
    // The close handler runs within it.
    if (!this.isClosed) this.#ws.end(code, reason);
  }

  terminate(): void {
    if (!this.isClosed) this.#ws.close();
  }
}
