import type { SocketHandler, SocketLimit } from '../../http/webSocket.ts';

/** Default of `CloseOptions.graceMs`. */
export const defaultGraceMs = 1000;

/**
 * Maximum number of protocol pings (RFC 6455 §5.5.2) that a client may send per second. uWebSockets.js replies to each
 * ping automatically, with up to 125 bytes for 131: 1,000 sockets that only sent pings delayed others for seconds.
 * Browsers send none, libraries one every few seconds.
 */
const maxPingsPerSecond = 100;

/**
 * Maximum time that a connection may outlive the close frame of the server: uWebSockets.js 20 ends it after 16 to 18 s
 * if the client does not.
 */
export const closedWithinMs = 18_000;

/** The open WebSockets of a server, with the limits that apply to all of them together. */
export class OpenSockets extends Set<OpenSocket> {
  /** Number of sockets that were sent a close frame and may still have a connection. */
  closingSockets = 0;
  /**
   * Whether the server is stopping. All sockets may then close with a close frame, since there are no new connections.
   */
  isStopping = false;
  readonly #maxUnsentBytes: number;
  readonly #maxClosing: number;
  #unsentBytes = 0;
  #closingBytes = 0;

  constructor({ maxUnsentSocketBytes = 25_165_824, maxConnections = Infinity }: SocketLimits) {
    super();
    this.#maxUnsentBytes = maxUnsentSocketBytes;
    this.#maxClosing = Math.min(100, Math.ceil(maxConnections / 4));
  }

  /** Number of calls in flight. */
  get inFlight(): number {
    let count = 0;
    for (const { handler } of this) count += handler?.inFlight ?? 0;
    return count;
  }

  /** Called when the server stops: each socket closes after its calls have completed, and no sockets are opened. */
  drain(graceMs = defaultGraceMs): void {
    this.isStopping = true;
    for (const { handler } of this) handler?.drain(graceMs);
  }

  /** Closes all sockets, as the server is stopping. */
  closeAll(): void {
    for (const socket of this) socket.close(1001, 'The server is stopping.');
  }

  /**
   * Adds a change of the unsent bytes of one socket. Over the limit, it closes the sockets with the most unsent bytes
   * until a quarter of the limit is free, so that this happens rarely. Closing the socket that exceeds the
   * limit instead would let a client that occupies nearly all of it close the sockets of others.
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
   * Reserves a place for a socket that closes with a close frame. The close frame waits behind the unsent bytes, and
   * the client may leave the connection open, so the number and the unsent bytes (a quarter of the limit) of closing
   * sockets are limited.
   * @returns a function to call when the connection has ended, or `undefined` if the connection must be ended at once
   */
  reserveClosing(unsent: number): (() => void) | undefined {
    if (this.#closingBytes + unsent > this.#maxUnsentBytes / 4) return undefined;
    if (this.closingSockets >= this.#maxClosing && !this.isStopping) return undefined;
    this.#closingBytes += unsent;
    this.closingSockets += 1;
    return () => {
      this.#closingBytes -= unsent;
      this.closingSockets -= 1;
    };
  }
}

/** Members of `ServeOptions`. */
interface SocketLimits {
  readonly maxUnsentSocketBytes?: number | undefined;
  readonly maxConnections?: number | undefined;
}

/** Base of the WebSockets of all adapters: their handler, unsent bytes and pings. */
export abstract class OpenSocket {
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

  abstract close(code?: number, reason?: string): void;

  abstract terminate(): void;

  /** Returns the number of bytes that the network has not taken yet. Not called after the socket has closed. */
  protected abstract waitingBytes(): number;

  /** Ends the connection at once because the client exceeded a limit. */
  endFor(limit: SocketLimit): void {
    if (!this.isClosed) this.handler?.limited(limit);
    this.terminate();
  }

  /**
   * Updates the count of unsent bytes. If the limit of all sockets is exceeded, this may close sockets, including this
   * one.
   */
  updateUnsentBytes(): void {
    const previousBytes = this.unsentBytes;
    this.unsentBytes = this.isClosed ? 0 : this.waitingBytes();
    if (this.unsentBytes !== previousBytes) this.openSockets.addUnsent(this.unsentBytes - previousBytes);
  }

  /** Called when the socket has closed: nothing can be sent any more. */
  onClose(): void {
    this.isClosed = true;
    this.updateUnsentBytes();
    this.openSockets.delete(this);
  }

  /** Counts a ping. Returns false if the client exceeds `maxPingsPerSecond`. */
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
