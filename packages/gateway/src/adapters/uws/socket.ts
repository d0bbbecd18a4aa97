import type { WebSocket } from '@uwsjs/core';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { closedWithinMs, OpenSocket, type OpenSockets } from '../serve/openSockets.ts';
import type { UwsRequest } from './request.ts';

/** User data that uWS stores with each WebSocket. */
export interface SocketData {
  readonly request: UwsRequest;
  readonly accept: SocketAcceptor;
  socket?: UwsSocket;
}

/** A WebSocket of uWebSockets.js. After it has closed, every native method throws, so none is called. */
export class UwsSocket extends OpenSocket {
  readonly #ws: WebSocket<SocketData>;

  constructor(ws: WebSocket<SocketData>, openSockets: OpenSockets) {
    super(openSockets);
    this.#ws = ws;
  }

  send(message: string | Uint8Array): void {
    if (this.isClosed) return;
    // 1: the message is sent, or is in the cork buffer of a few kilobytes that uWS flushes at the end of the turn.
    if (this.#ws.send(message, typeof message !== 'string') !== 1) this.updateUnsentBytes();
  }

  terminate(): void {
    if (!this.isClosed) this.#ws.close();
  }

  /**
   * After `end`, uWebSockets.js 20 can neither close the connection nor report its end. Both `end` and `close` call the
   * close handler synchronously.
   */
  protected sendClose(onEnd: () => void, code?: number, reason?: string): void {
    setTimeout(onEnd, closedWithinMs).unref();
    this.#ws.end(code, reason);
  }

  protected waitingBytes(): number {
    return this.#ws.getBufferedAmount();
  }
}
