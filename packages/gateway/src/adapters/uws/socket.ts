import type { WebSocket } from 'uWebSockets.js';
import type { SocketAcceptor, WebSocketPeer } from '../../http/webSocket.ts';
import { closedWithinMs, OpenSocket, type OpenSockets } from '../server/openSockets.ts';
import type { UwsRequest } from './request.ts';

/** What uWS keeps for us with each WebSocket. */
export interface SocketData {
  readonly request: UwsRequest;
  readonly accept: SocketAcceptor;
  socket?: UwsSocket;
}

/** A WebSocket of uWebSockets.js. Once it is closed every native method throws, so none is called then. */
export class UwsSocket extends OpenSocket implements WebSocketPeer {
  readonly #ws: WebSocket<SocketData>;

  constructor(ws: WebSocket<SocketData>, all: OpenSockets) {
    super(all);
    this.#ws = ws;
  }

  send(message: string | Uint8Array): void {
    if (this.isClosed) return;
    // 1: it is sent, or waits for the end of the turn among the few kilobytes that uWS corks.
    if (this.#ws.send(message, typeof message !== 'string') !== 1) this.recount();
  }

  close(code?: number, reason?: string): void {
    this.recount();
    if (this.isClosed) return;
    // From now on uWebSockets.js 20 can neither end it nor report its end. The close handler runs within either call.
    const ended = this.all.beginClosing(this.unsentBytes);
    if (!ended) return this.terminate();
    setTimeout(ended, closedWithinMs).unref();
    this.#ws.end(code, reason);
  }

  terminate(): void {
    if (!this.isClosed) this.#ws.close();
  }

  protected waitingBytes(): number {
    return this.#ws.getBufferedAmount();
  }
}
