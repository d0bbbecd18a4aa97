// Hot path: called for every WebSocket message.
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { OpenSocket, type OpenSockets } from '../serve/openSockets.ts';

/** Overhead of a frame in Node's stream: without it, responses of 6 bytes could take 100 times the limit. */
const frameOverheadBytes = 512;

/** Interval of pings on an idle socket. */
const pingMs = 40_000;

/** Number of consecutive pings without any data from the client after which a socket is closed. */
const maxUnansweredPings = 2;

/** Most messages of a client after the socket was closed: ws parses them until the client closes too, up to 18 s. */
const maxMessagesAfterClose = 100;

/** A WebSocket of ws that passes every close to its owner, including closes by the client. */
export class NativeSocket extends WebSocket {
  owner: NodeSocket | undefined;

  /** Called by ws for a close frame, and for a malformed frame, without a reason. */
  override close(code?: number, reason?: Buffer): void {
    this.owner?.closedByClient(code, reason);
  }

  /** Closes the socket with a close frame (ws's own `close`). */
  closeInOrder(code?: number, reason?: string | Buffer): void {
    super.close(code, reason);
  }
}

interface NodeSocketOptions {
  readonly connection: Socket;
  readonly maxMessageSize: number;
  /** Called once when the socket is closed, with a promise of the end of its calls. */
  readonly onClosed: (calls: Promise<void>) => void;
}

/** A WebSocket of ws. Its handler learns of a close at once; ws waits for the end of the connection. */
export class NodeSocket extends OpenSocket {
  readonly #ws: NativeSocket;
  readonly #connection: Socket;
  readonly #maxMessageSize: number;
  readonly #onClosed: (calls: Promise<void>) => void;
  readonly #pingTimer: NodeJS.Timeout;
  /** Number of frames that were passed to ws and are not written yet. */
  #frames = 0;
  /** `bytesRead` of the connection at the last check. */
  #bytesRead = 0;
  #unansweredPings = 0;
  #messagesAfterClose = 0;
  /** Releases the place that `OpenSockets.reserveClosing` reserved. */
  #onEnd: (() => void) | undefined;

  constructor(
    ws: NativeSocket,
    openSockets: OpenSockets,
    { connection, maxMessageSize, onClosed }: NodeSocketOptions,
  ) {
    super(openSockets);
    this.#ws = ws;
    this.#connection = connection;
    this.#maxMessageSize = maxMessageSize;
    this.#onClosed = onClosed;
    this.#pingTimer = setInterval(() => this.#checkIdle(), pingMs).unref();
    ws.owner = this;
    ws.on('message', (data: Buffer, isBinary) => {
      if (this.isClosed) this.#countAfterClose();
      else this.handler?.message(isBinary ? compactBytes(data) : data, isBinary);
    });
    ws.on('ping', (data) => this.#pinged(data));
    // Unsolicited pongs cost as much as pings.
    ws.on('pong', () => {
      if (!this.isClosed) this.countPing();
    });
    // Emitted for a malformed frame, for which `closedByClient` was called.
    ws.on('error', () => {});
    ws.on('close', () => {
      this.#end(false);
      this.#onEnd?.();
    });
    // The client ended the connection without a close frame. ws would continue until everything is sent.
    connection.on('end', () => this.terminate());
  }

  send(message: string | Uint8Array): void {
    if (this.isClosed) return;
    this.#frames += 1;
    this.#ws.send(message, this.#written);
    this.updateUnsentBytes();
  }

  terminate(): void {
    if (this.isClosed) return;
    this.#end(false);
    this.#ws.terminate();
  }

  pause(): void {
    this.#ws.pause();
  }

  resume(): void {
    this.#ws.resume();
  }

  /** @param reason undefined for a malformed frame: the client has sent no close frame and may continue to send */
  closedByClient(code?: number, reason?: Buffer): void {
    if (code !== undefined && reason === undefined) {
      if (code !== 1009 || this.isClosed) return this.close(code);
      this.handler?.limited('message-bytes');
      return this.close(code, `The message is larger than ${this.#maxMessageSize} bytes.`);
    }
    this.updateUnsentBytes();
    // Limits the unsent bytes, no matter which end closes.
    if (this.unsentBytes > 0) this.#onEnd = this.openSockets.reserveClosing(this.unsentBytes);
    if (this.unsentBytes > 0 && !this.#onEnd) return this.terminate();
    this.#end(true);
    this.#ws.closeInOrder(code, reason);
    // Both ends have closed, so the server ends the connection (RFC 6455 §7.1.1). ws would wait for the client.
    this.#connection.destroySoon();
  }

  protected sendClose(onEnd: () => void, code?: number, reason?: string): void {
    this.#onEnd = onEnd;
    this.#end(false);
    this.#ws.closeInOrder(code, reason);
  }

  protected waitingBytes(): number {
    const bytes = this.#ws.bufferedAmount;
    return bytes === 0 ? 0 : bytes + this.#frames * frameOverheadBytes;
  }

  /** Called when Node has written a frame, or dropped it because the connection has ended. */
  readonly #written = (): void => {
    this.#frames -= 1;
    if (this.unsentBytes === 0) return;
    this.updateUnsentBytes();
    this.handler?.drained();
  };

  #pinged(data: Buffer): void {
    if (this.isClosed || !this.countPing()) return;
    this.#frames += 1;
    this.#ws.pong(compactBytes(data), false, this.#written);
    this.updateUnsentBytes();
    this.handler?.pinged();
  }

  /** Ends the connection of a client that floods a closed socket. */
  #countAfterClose(): void {
    this.#messagesAfterClose += 1;
    if (this.#messagesAfterClose > maxMessagesAfterClose) this.#connection.destroy();
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

  #end(isByClient: boolean): void {
    if (this.isClosed) return;
    this.onClose();
    clearInterval(this.#pingTimer);
    // The connection ends at once, or `OpenSockets` counts it until it ends.
    this.#onClosed(Promise.resolve(this.handler?.closed(isByClient)));
  }
}

/** Returns bytes that keep no large buffer in memory: ws passes on parts of a buffer of up to 64 KiB. */
const compactBytes = (data: Buffer): Buffer =>
  data.byteLength * 2 > data.buffer.byteLength ? data : Buffer.from(new Uint8Array(data).buffer);
