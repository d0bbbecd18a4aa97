// Hot path: every message on a WebSocket runs through it.
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { WebSocketPeer } from '../../http/webSocket.ts';
import { OpenSocket, type OpenSockets } from '../server/openSockets.ts';

/**
 * Memory that a frame takes besides its bytes while it waits in Node's stream. Without it, answers of 6 bytes that a client
 * does not read would take a hundred times what the limits allow.
 */
const frameBytes = 512;

/** How often a quiet socket is pinged. */
const pingMs = 40_000;

/** After how many pings without an answer, or anything else from its client, a socket is ended. */
const maxUnansweredPings = 2;

/** A WebSocket of ws of which all closes go through its owner, those that the client causes too. */
export class NativeSocket extends WebSocket {
  owner: NodeSocket | undefined;

  /** ws calls it for a close frame, and for a malformed frame: then without a reason. */
  override close(code?: number, reason?: Buffer): void {
    this.owner?.closedByClient(code, reason);
  }

  closeInOrder(code?: number, reason?: string | Buffer): void {
    super.close(code, reason);
  }
}

interface NodeSocketOptions {
  readonly ws: NativeSocket;
  readonly connection: Socket;
  readonly all: OpenSockets;
  readonly maxMessageBytes: number;
  /** Called once, when the socket is closed, with its calls in flight. */
  readonly onClosed: (calls: Promise<void>) => void;
}

/**
 * A WebSocket of ws, on a connection of an HTTP server of Node. For its handler it is closed as soon as either end closes
 * it: ws reports that when the connection has ended.
 */
export class NodeSocket extends OpenSocket implements WebSocketPeer {
  readonly #ws: NativeSocket;
  readonly #connection: Socket;
  readonly #maxMessageBytes: number;
  readonly #onClosed: (calls: Promise<void>) => void;
  readonly #pingTimer: NodeJS.Timeout;
  /** How many frames were passed to ws and are not written yet. */
  #frames = 0;
  #bytesRead = 0;
  #unansweredPings = 0;
  /** Frees the place among the sockets that close in order. */
  #onEnd: (() => void) | undefined;

  constructor({ ws, connection, all, maxMessageBytes, onClosed }: NodeSocketOptions) {
    super(all);
    this.#ws = ws;
    this.#connection = connection;
    this.#maxMessageBytes = maxMessageBytes;
    this.#onClosed = onClosed;
    this.#pingTimer = setInterval(() => this.#checkIdle(), pingMs).unref();
    ws.owner = this;
    ws.on('message', (data: Buffer, isBinary) => {
      if (!this.isClosed) this.handler?.message(isBinary ? ownBytes(data) : data, isBinary);
    });
    ws.on('ping', (data) => this.#pinged(data));
    // What answers no ping costs as much to read.
    ws.on('pong', () => {
      if (!this.isClosed && !this.countPing()) this.endFor('pings');
    });
    // A malformed frame: `closedByClient` was called.
    ws.on('error', () => {});
    ws.on('close', () => {
      this.#end(false);
      this.#onEnd?.();
    });
    // The client ends without a close frame: ws would go on until everything is sent.
    connection.on('end', () => this.terminate());
  }

  send(message: string | Uint8Array): void {
    if (this.isClosed) return;
    this.#frames += 1;
    this.#ws.send(message, this.#written);
    this.recount();
  }

  close(code?: number, reason?: string): void {
    this.recount();
    if (this.isClosed) return;
    this.#onEnd = this.all.beginClosing(this.unsentBytes);
    if (this.#onEnd) this.#closeInOrder(false, code, reason);
    else this.terminate();
  }

  terminate(): void {
    if (this.isClosed) return;
    this.#end(false);
    this.#ws.terminate();
  }

  /** @param reason undefined for a malformed frame: then the client has sent no close frame, and may go on */
  closedByClient(code?: number, reason?: Buffer): void {
    if (code !== undefined && reason === undefined) {
      if (code !== 1009 || this.isClosed) return this.close(code);
      this.handler?.limited('message-bytes');
      return this.close(code, `A message may have ${this.#maxMessageBytes} bytes.`);
    }
    this.recount();
    // What is unsent is bounded, whichever end closes.
    if (this.unsentBytes > 0) this.#onEnd = this.all.beginClosing(this.unsentBytes);
    if (this.unsentBytes > 0 && !this.#onEnd) return this.terminate();
    this.#closeInOrder(true, code, reason);
    // Both ends have closed, and the server ends the connection (RFC 6455 §7.1.1): ws would wait for its client to do it.
    this.#connection.destroySoon();
  }

  protected waitingBytes(): number {
    const bytes = this.#ws.bufferedAmount;
    return bytes === 0 ? 0 : bytes + this.#frames * frameBytes;
  }

  /** Node has written a frame, or dropped it because the connection has ended. */
  readonly #written = (): void => {
    this.#frames -= 1;
    if (this.unsentBytes === 0) return;
    this.recount();
    this.handler?.drained();
  };

  #pinged(data: Buffer): void {
    if (this.isClosed) return;
    // Without a close frame: what the client goes on sending would be read until its connection ends.
    if (!this.countPing()) return this.endFor('pings');
    this.#frames += 1;
    this.#ws.pong(ownBytes(data), false, this.#written);
    this.recount();
    this.handler?.pinged();
  }

  #checkIdle(): void {
    const { bytesRead } = this.#connection;
    if (bytesRead !== this.#bytesRead) this.#unansweredPings = 0;
    else if (this.#unansweredPings === maxUnansweredPings) return this.terminate();
    else {
      this.#unansweredPings += 1;
      this.#ws.ping();
    }
    this.#bytesRead = bytesRead;
  }

  #closeInOrder(isByClient: boolean, code?: number, reason?: string | Buffer): void {
    this.#end(isByClient);
    this.#ws.closeInOrder(code, reason);
  }

  #end(isByClient: boolean): void {
    if (this.isClosed) return;
    this.closed();
    clearInterval(this.#pingTimer);
    // Otherwise the connection ends at once, or is counted until it does.
    this.#onClosed(Promise.resolve(this.handler?.closed(isByClient)));
  }
}

/** Bytes that keep no others in memory: what arrives at once is one buffer of up to 64 KiB, of which ws gives out parts. */
const ownBytes = (data: Buffer): Buffer =>
  data.byteLength * 2 > data.buffer.byteLength ? data : Buffer.from(new Uint8Array(data).buffer);
