import type { WebSocket } from 'uWebSockets.js';
import type { WebSocketPeer, SocketAcceptor, SocketHandler, SocketLimit } from '../../http/webSocket.ts';
import type { UwsRequest } from './request.ts';

/** What uWS keeps for us with each WebSocket. */
export interface SocketData {
  readonly request: UwsRequest;
  readonly accept: SocketAcceptor;
  socket?: UwsSocket;
}

/**
 * How many protocol pings (RFC 6455 §5.5.2) a client may send in a second. uWebSockets.js answers each by itself, 125
 * bytes for 131: 1,000 sockets that did nothing else made others wait for seconds. Browsers send none, libraries one every
 * few seconds.
 */
const maxPingsPerSecond = 100;

/** How long uWebSockets.js 20 takes to end a socket after its close frame, at most (measured: 16 to 18 s). */
const closedWithinMs = 18_000;

/** The open WebSockets of a server, and the bounds of all together. */
export class OpenSockets extends Set<UwsSocket> {
  /** How many sockets got a close frame less than 18 s ago: their connections may still be open. */
  closing = 0;
  /** Whether the server stops: then all may close in order, since no new connections come. */
  isStopping = false;
  readonly #maxUnsentBytes: number;
  readonly #maxClosing: number;
  #unsentBytes = 0;
  #closingBytes = 0;

  /** @param maxClosing how many sockets may close in order within 18 s */
  constructor(maxUnsentBytes: number, maxClosing: number) {
    super();
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#maxClosing = maxClosing;
  }

  /** How many calls are in flight. */
  get inFlight(): number {
    let count = 0;
    for (const { handler } of this) count += handler?.inFlight ?? 0;
    return count;
  }

  /** The server stops: sockets close once their calls are answered, and no more are opened. */
  drain(): void {
    this.isStopping = true;
    for (const { handler } of this) handler?.drain();
  }

  closeAll(): void {
    for (const socket of this) socket.close(1001, 'The server is stopping.');
  }

  /**
   * Adds a change of one socket's unsent bytes. Beyond the bound it ends the sockets with the most: ending the one that
   * passes it would let a client that holds nearly all of it end the others. A quarter is freed, so that this is rare.
   */
  addUnsent(change: number): void {
    this.#unsentBytes += change;
    if (change < 0 || this.#unsentBytes <= this.#maxUnsentBytes) return;
    for (const socket of [...this].toSorted((a, b) => b.unsentBytes - a.unsentBytes)) {
      if (this.#unsentBytes <= this.#maxUnsentBytes * 0.75) return;
      socket.endFor('unsent-bytes');
    }
  }

  /**
   * Whether a socket may close in order. Its close frame waits behind its unsent bytes, and from then on uWebSockets.js 20
   * can neither end it nor report its end. All such sockets may hold a quarter of the bound, and `maxClosing` connections.
   */
  mayClose(unsent: number): boolean {
    if (this.#closingBytes + unsent > this.#maxUnsentBytes / 4) return false;
    if (this.closing >= this.#maxClosing && !this.isStopping) return false;
    this.#closingBytes += unsent;
    this.closing += 1;
    setTimeout(() => {
      this.#closingBytes -= unsent;
      this.closing -= 1;
    }, closedWithinMs).unref();
    return true;
  }
}

/** A WebSocket of uWebSockets.js. Once it is closed every native method throws, so none is called then. */
export class UwsSocket implements WebSocketPeer {
  handler: SocketHandler | undefined;
  isClosed = false;
  /** `bufferedBytes` as counted last. */
  unsentBytes = 0;
  readonly #ws: WebSocket<SocketData>;
  readonly #all: OpenSockets;
  #pings = 0;
  #pingsSince = 0;

  constructor(ws: WebSocket<SocketData>, all: OpenSockets) {
    this.#ws = ws;
    this.#all = all;
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
    if (this.#all.mayClose(this.unsentBytes)) this.#ws.end(code, reason);
    else this.#ws.close();
  }

  terminate(): void {
    if (!this.isClosed) this.#ws.close();
  }

  /** Ends the connection at once because of a limit. */
  endFor(limit: SocketLimit): void {
    if (!this.isClosed) this.handler?.limited(limit);
    this.terminate();
  }

  /** Counts the unsent bytes. Beyond the bound of all sockets it may end this one. */
  recount(): void {
    const before = this.unsentBytes;
    this.unsentBytes = this.isClosed ? 0 : this.#ws.getBufferedAmount();
    if (this.unsentBytes !== before) this.#all.addUnsent(this.unsentBytes - before);
  }

  /** Called when uWS has closed it. */
  closed(): void {
    this.isClosed = true;
    this.recount();
    this.#all.delete(this);
  }

  /** @returns whether the client may send this ping */
  countPing(): boolean {
    const now = performance.now();
    if (now - this.#pingsSince > 1000) {
      this.#pingsSince = now;
      this.#pings = 0;
    }
    this.#pings += 1;
    return this.#pings <= maxPingsPerSecond;
  }
}
