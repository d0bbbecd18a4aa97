import type { WebSocket } from 'uWebSockets.js';
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
 * bytes for 131: 1,000 sockets that did nothing else made others wait for seconds. Browsers send none, libraries one every
 * few seconds.
 */
const maxPingsPerSecond = 100;

/** A WebSocket of uWebSockets.js. Once it is closed every native method throws, so none is called then. */
export class UwsSocket implements WebSocketPeer {
  handler: SocketHandler | undefined;
  isClosed = false;
  /** `bufferedBytes` as counted last. */
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
    this.#setUnsent(this.isClosed ? 0 : this.#ws.getBufferedAmount());
  }

  /** Called when uWS has closed it. */
  closed(): void {
    this.isClosed = true;
    this.#setUnsent(0);
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

  #setUnsent(bytes: number): void {
    const change = bytes - this.unsentBytes;
    if (change === 0) return;
    this.unsentBytes = bytes;
    this.#unsent.add(change);
  }
}
