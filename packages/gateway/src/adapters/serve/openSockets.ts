import type { HttpResponse } from '../../http/response.ts';
import type { Service } from '../../http/service.ts';
import type { SocketAcceptor, SocketHandler, SocketLimit, WebSocketPeer } from '../../http/webSocket.ts';
import { internalErrorResponse, stoppingResponse } from './rejections.ts';
import type { HttpRequest } from '../../http/request.ts';

/**
 * Maximum pings (RFC 6455 §5.5.2) of a client per second. uWebSockets.js replies to each itself, with up to 125 bytes
 * for 131: 1,000 sockets of pings delayed others for seconds. Browsers send none, libraries one every few seconds.
 */
const maxPingsPerSecond = 100;

/** Most time that a connection outlives a close frame: uWebSockets.js 20 ends it after 16 to 18 s if its client does not. */
export const closedWithinMs = 18_000;

/** If the limit is smaller, messages up to this size are received anyway, so that they can be rejected with 1009. */
const minPayloadBytes = 65_536;

/** Close reason of uWebSockets.js 20, and so of Bun, for a message larger than `maxPayload`. */
const messageTooBigReason = 'Received too big message';

/** The size of messages up to which a parser receives them. */
export const maxPayload = (maxMessageSize: number): number => Math.max(maxMessageSize, minPayloadBytes);

type Decision = NonNullable<ReturnType<NonNullable<Service['upgrade']>>>;

/** The open WebSockets of a server, with the limits that apply to all of them together. */
export class OpenSockets extends Set<OpenSocket> {
  /** Number of sockets that were sent a close frame and may still have a connection. */
  closingSockets = 0;
  /** Whether the server is stopping. All sockets may then close with a close frame, since no connections are new. */
  isStopping = false;
  readonly #service: Service;
  readonly #maxUnsentSize: number;
  readonly #maxClosing: number;
  #unsentBytes = 0;
  #closingBytes = 0;

  /** The limits are those of `ServeOptions`. */
  constructor(service: Service, maxUnsentSize = defaultUnsentBytes, maxConnections = Infinity) {
    super();
    this.#service = service;
    this.#maxUnsentSize = maxUnsentSize / 10;
    this.#maxClosing = Math.min(100, Math.ceil(maxConnections / 4));
  }

  get inFlight(): number {
    let count = 0;
    for (const { handler } of this) count += handler?.inFlight ?? 0;
    return count;
  }

  /** Decides about an upgrade: `undefined` without WebSockets at the path, a 500 if the service throws. */
  decide(request: HttpRequest): Decision | undefined {
    if (this.isStopping) return stoppingResponse;
    try {
      return this.#service.shed?.(request) ?? this.#service.upgrade?.(request);
    } catch {
      return internalErrorResponse;
    }
  }

  /** Waits for a decision, in which the server may have begun to stop. */
  async settle(decision: Decision): Promise<SocketAcceptor | HttpResponse> {
    const settled = await Promise.resolve(decision).catch(() => internalErrorResponse);
    // Never in a microtask: it may run while uWS reads another request. Opening a WebSocket then ends that connection,
    // or the process ("Cork buffer must not be held across event loop iterations!", uWebSockets.js 20). A rejection
    // waits, too, which limits a connection to one rejected upgrade per turn.
    await new Promise(setImmediate);
    return this.isStopping ? stoppingResponse : settled;
  }

  /** Called when the server stops: each socket closes after its calls have completed, and no sockets are opened. */
  drain(graceMs: number): void {
    this.isStopping = true;
    for (const { handler } of this) handler?.drain(graceMs);
  }

  closeAll(): void {
    for (const socket of this) socket.close(1001, 'The server is stopping.');
  }

  /**
   * Adds a change of one socket's unsent bytes. Over the limit, it closes those with the most until a quarter is free,
   * so this is rare. Closing the one that exceeds it would let a client that occupies most of it close others.
   */
  addUnsent(change: number): void {
    this.#unsentBytes += change;
    if (change < 0 || this.#unsentBytes <= this.#maxUnsentSize) return;
    for (const socket of [...this].toSorted((a, b) => b.unsentBytes - a.unsentBytes)) {
      if (this.#unsentBytes <= this.#maxUnsentSize * 0.75) return;
      socket.endFor('unsent-bytes');
    }
  }

  /**
   * Reserves a place for a socket that closes with a close frame, which waits behind the unsent bytes; the client may
   * leave the connection open. So their number and unsent bytes (a quarter of the limit) are limited.
   * @returns a function for the end of the connection; `undefined` to end it at once
   */
  reserveClosing(unsent: number): (() => void) | undefined {
    if (this.#closingBytes + unsent > this.#maxUnsentSize / 4) return undefined;
    if (this.closingSockets >= this.#maxClosing && !this.isStopping) return undefined;
    this.#closingBytes += unsent;
    this.closingSockets += 1;
    return () => {
      this.#closingBytes -= unsent;
      this.closingSockets -= 1;
    };
  }
}

/** The default of `ServeOptions.maxUnsentSize`. WebSockets together have a tenth of it. */
export const defaultUnsentBytes = 268_435_456;

/** Base of the WebSockets of all adapters: their handler, unsent bytes and pings. */
export abstract class OpenSocket implements WebSocketPeer {
  handler: SocketHandler | undefined;
  isClosed = false;
  /** `waitingBytes` at the last count. */
  unsentBytes = 0;
  protected readonly openSockets: OpenSockets;
  #pings = 0;
  #pingsSince = 0;

  constructor(openSockets: OpenSockets) {
    this.openSockets = openSockets;
    openSockets.add(this);
  }

  get bufferedBytes(): number {
    this.updateUnsentBytes();
    return this.unsentBytes;
  }

  /** Passes the socket to its handler, after it has opened. */
  accept(accept: SocketAcceptor): void {
    try {
      this.handler = accept(this);
    } catch {
      // An acceptor must not throw. Rethrown here, the error would end the process.
      this.close(1011);
    }
  }

  abstract send(message: string | Uint8Array): void;

  close(code?: number, reason?: string): void {
    this.updateUnsentBytes();
    if (this.isClosed) return;
    const release = this.openSockets.reserveClosing(this.unsentBytes);
    if (release) this.sendClose(release, code, reason);
    else this.terminate();
  }

  abstract terminate(): void;

  /** Sends a close frame. Calls `onEnd` when the connection has ended. */
  protected abstract sendClose(onEnd: () => void, code?: number, reason?: string): void;

  /** Returns the number of bytes that the network has not taken yet. Not called after the socket has closed. */
  protected abstract waitingBytes(): number;

  /** Ends the connection at once because the client exceeded a limit. */
  endFor(limit: SocketLimit): void {
    if (!this.isClosed) this.handler?.limited(limit);
    this.terminate();
  }

  /** Updates the count of unsent bytes. Above the limit of all sockets, this may close sockets, including this one. */
  updateUnsentBytes(): void {
    const previousBytes = this.unsentBytes;
    this.unsentBytes = this.isClosed ? 0 : this.waitingBytes();
    if (this.unsentBytes !== previousBytes) this.openSockets.addUnsent(this.unsentBytes - previousBytes);
  }

  /** Passes a message on, or closes the socket if it is larger than `maxBytes`. The message may be retained. */
  receive(message: Buffer, isBinary: boolean, maxBytes: number): void {
    if (message.byteLength <= maxBytes) return this.handler?.message(message, isBinary);
    this.handler?.limited('message-bytes');
    this.close(1009, `The message is larger than ${maxBytes} bytes.`);
  }

  /** Called when uWebSockets.js or Bun has closed the socket. @returns a promise of the end of its calls */
  onNativeClose(code: number, reason: string): Promise<void> {
    this.onClose();
    // With any other code, it is the close reason of the client.
    if (code === 1006 && reason === messageTooBigReason) this.handler?.limited('message-bytes');
    return Promise.resolve(this.handler?.closed(code !== 1006));
  }

  /** Called when the socket has closed: nothing can be sent any more. */
  onClose(): void {
    this.isClosed = true;
    this.updateUnsentBytes();
    this.openSockets.delete(this);
  }

  /** Counts a ping. If the client exceeds `maxPingsPerSecond`, ends the connection and returns false. */
  countPing(): boolean {
    const now = performance.now();
    if (now - this.#pingsSince > 1000) {
      this.#pingsSince = now;
      this.#pings = 0;
    }
    this.#pings += 1;
    if (this.#pings <= maxPingsPerSecond) return true;
    // Without a close frame, after which the client's data would be read for up to 18 s.
    this.endFor('pings');
    return false;
  }
}
