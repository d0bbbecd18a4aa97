import type { HttpRequest as NativeRequest, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import type { WebSocketPeer, SocketAcceptor, SocketHandler, SocketLimit } from '../../http/webSocket.ts';
import type { UwsRequest } from './request.ts';
import type { UnsentBytes } from './unsentBytes.ts';

/** What uWS keeps for us with each WebSocket. */
export interface SocketData {
  readonly request: UwsRequest;
  readonly accept: SocketAcceptor;
  socket?: UwsSocket;
}

/**
 * How many protocol pings (RFC 6455 §5.5.2) a client may send in a second. uWebSockets.js answers each by itself, 125
 * bytes for 131: 1,000 sockets that did nothing else made others wait for seconds. Browsers send none, libraries one in
 * some seconds.
 */
const maxPingsPerSecond = 100;

/** What uWebSockets.js 20 says of a connection that it ends for a message beyond `maxPayloadLength`. */
const tooBig = 'Received too big message';

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
export function asksForSocket(req: NativeRequest): boolean {
  if (req.getHeader('upgrade').toLowerCase() !== 'websocket') return false;
  const connection = req
    .getHeader('connection')
    .toLowerCase()
    .split(/\s*,\s*/);
  const hasBody = req.getHeader('transfer-encoding') !== '' || Number(req.getHeader('content-length')) !== 0;
  return connection.includes('upgrade') && !connection.includes('close') && !hasBody;
}

/** Reads what `NativeResponse.upgrade` takes: like every header, only while the handler runs. */
export const upgradeHeaders = (req: NativeRequest): UpgradeHeaders => ({
  key: req.getHeader('sec-websocket-key'),
  // Of several that the client offers the first, as the package ws has it.
  protocol: req.getHeader('sec-websocket-protocol').split(',', 1)[0]?.trim() ?? '',
  extensions: req.getHeader('sec-websocket-extensions'),
});

export interface SocketLimits {
  /** A larger message closes the socket with 1009. */
  readonly maxMessageBytes: number;
  /**
   * How many bytes of a message, whole or not, uWS keeps. A larger one ends the connection where its head says so: then
   * uWebSockets.js 20 sends no close frame.
   */
  readonly maxPayloadBytes: number;
}

/**
 * How WebSockets are served, but for the upgrade.
 * @param sockets holds those that are open
 * @param onClosed told of each that is closed, with what it has begun and what has not ended
 */
export function socketBehavior(
  { maxMessageBytes, maxPayloadBytes }: SocketLimits,
  sockets: Set<UwsSocket>,
  unsent: UnsentBytes,
  onClosed: (request: UwsRequest, ended: Promise<void>) => void,
): Omit<WebSocketBehavior<SocketData>, 'upgrade'> {
  const owner = (ws: WebSocket<SocketData>) => ws.getUserData().socket;
  return {
    maxPayloadLength: maxPayloadBytes,
    // 0 is no limit: with one, uWebSockets.js 20 drops what is sent beyond it and says so only in a return value. The
    // wire bounds what is sent by `bufferedBytes`, and `UnsentBytes` all of it.
    maxBackpressure: 0,
    // uWS pings a quiet client by itself, so this only ends those that are gone. They may have left without a word.
    idleTimeout: 120,
    sendPingsAutomatically: true,
    // uWS.DISABLED: compression costs memory for each socket, and CPU that a stranger can ask for.
    compression: 0,

    open(ws) {
      const data = ws.getUserData();
      const socket = new UwsSocket(ws, unsent);
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
        socket?.handler?.limited('message-bytes');
        socket?.close(1009, `A message may have ${maxMessageBytes} bytes.`);
      } else {
        // uWS detaches the message's memory when this returns: it is copied, into Node's pool (a sixth of a call).
        socket?.handler?.message(Buffer.from(new Uint8Array(message)), isBinary);
      }
    },
    ping(ws) {
      const socket = owner(ws);
      if (socket?.takesPing()) socket.handler?.pinged();
      // Not in order: what it goes on sending would be read until its connection ends, up to 18 s later.
      else socket?.cut('pings');
    },
    drain(ws) {
      const socket = owner(ws);
      socket?.recount();
      socket?.handler?.drained();
    },
    close(ws, code, message) {
      const { socket, request } = ws.getUserData();
      request.aborted();
      if (socket === undefined) return;
      socket.closed();
      // With another code it is the reason that a client gave.
      if (code === 1006 && Buffer.from(message).toString() === tooBig)
        socket.handler?.limited('message-bytes');
      sockets.delete(socket);
      onClosed(request, Promise.resolve(socket.handler?.closed(code !== 1006)));
    },
  };
}

/** A WebSocket of uWebSockets.js: once it is closed its every method would throw, so none is called then. */
export class UwsSocket implements WebSocketPeer {
  handler: SocketHandler | undefined;
  isClosed = false;
  /** `bufferedBytes` as it was counted last. */
  unsentBytes = 0;
  readonly #ws: WebSocket<SocketData>;
  readonly #unsent: UnsentBytes;
  #pings = 0;
  #pingsSince = 0;

  constructor(ws: WebSocket<SocketData>, unsent: UnsentBytes) {
    this.#ws = ws;
    this.#unsent = unsent;
  }

  get bufferedBytes(): number {
    this.recount();
    return this.unsentBytes;
  }

  send(message: string | Uint8Array): void {
    if (this.isClosed) return;
    // 1: it is sent, or waits for the end of the turn among the few kilobytes that uWS corks.
    if (this.#ws.send(message, typeof message !== 'string') !== 1) this.recount();
  }

  close(code?: number, reason?: string): void {
    this.recount();
    if (this.isClosed) return;
    // The close handler runs within either.
    if (this.#unsent.mayClose(this.unsentBytes)) this.#ws.end(code, reason);
    else this.#ws.close();
  }

  /** Ends the connection at once, for a limit. */
  cut(limit: SocketLimit): void {
    if (!this.isClosed) this.handler?.limited(limit);
    this.terminate();
  }

  /** Counts what has not been sent. Beyond the bound of all sockets it may end this one. */
  recount(): void {
    this.#count(this.isClosed ? 0 : this.#ws.getBufferedAmount());
  }

  /** uWS has closed it. */
  closed(): void {
    this.isClosed = true;
    this.#count(0);
  }

  /** Counts a ping. */
  takesPing(): boolean {
    const now = performance.now();
    if (now - this.#pingsSince > 1000) {
      this.#pingsSince = now;
      this.#pings = 0;
    }
    this.#pings += 1;
    return this.#pings <= maxPingsPerSecond;
  }

  #count(bytes: number): void {
    const change = bytes - this.unsentBytes;
    if (change === 0) return;
    this.unsentBytes = bytes;
    this.#unsent.add(change);
  }

  terminate(): void {
    if (!this.isClosed) this.#ws.close();
  }
}
