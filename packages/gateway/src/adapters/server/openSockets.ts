import type { SocketHandler, SocketLimit } from '../../http/webSocket.ts';

/**
 * How many protocol pings (RFC 6455 §5.5.2) a client may send in a second. uWebSockets.js answers each by itself, 125
 * bytes for 131: 1,000 sockets that did nothing else made others wait for seconds. Browsers send none, libraries one every
 * few seconds.
 */
const maxPingsPerSecond = 100;

/**
 * How long the connection of a socket may outlive the close frame that the server sends: uWebSockets.js 20 takes 16 to 18 s
 * to end one whose client does not.
 */
export const closedWithinMs = 18_000;

/** The open WebSockets of a server, and the bounds of all together. */
export class OpenSockets extends Set<OpenSocket> {
  /** How many sockets got a close frame, and may still have a connection. */
  closing = 0;
  /** Whether the server stops: then all may close in order, since no new connections come. */
  isStopping = false;
  readonly #maxUnsentBytes: number;
  readonly #maxClosing: number;
  #unsentBytes = 0;
  #closingBytes = 0;

  constructor({ maxUnsentSocketBytes = 25_165_824, maxConnections = Infinity }: SocketBounds) {
    super();
    this.#maxUnsentBytes = maxUnsentSocketBytes;
    this.#maxClosing = Math.min(100, Math.ceil(maxConnections / 4));
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
   * Begins to close a socket in order: its close frame waits behind its unsent bytes, and its client may leave the
   * connection open. All such sockets may hold a quarter of the bound, and a number of connections.
   * @returns to be called when its connection has ended; `undefined` where the socket is to be ended at once
   */
  beginClosing(unsent: number): (() => void) | undefined {
    if (this.#closingBytes + unsent > this.#maxUnsentBytes / 4) return undefined;
    if (this.closing >= this.#maxClosing && !this.isStopping) return undefined;
    this.#closingBytes += unsent;
    this.closing += 1;
    return () => {
      this.#closingBytes -= unsent;
      this.closing -= 1;
    };
  }
}

/** Of `ServeOptions`. */
interface SocketBounds {
  readonly maxUnsentSocketBytes?: number | undefined;
  readonly maxConnections?: number | undefined;
}

/** What the WebSockets of all adapters have in common: their owner, their unsent bytes and their pings. */
export abstract class OpenSocket {
  handler: SocketHandler | undefined;
  isClosed = false;
  /** `waitingBytes` as counted last. */
  unsentBytes = 0;
  protected readonly all: OpenSockets;
  #pings = 0;
  #pingsSince = 0;

  constructor(all: OpenSockets) {
    this.all = all;
    all.add(this);
  }

  get bufferedBytes(): number {
    this.recount();
    return this.unsentBytes;
  }

  abstract close(code?: number, reason?: string): void;

  abstract terminate(): void;

  /** How many bytes the network has not taken yet. Not called once the socket is closed. */
  protected abstract waitingBytes(): number;

  /** Ends the connection at once because of a limit. */
  endFor(limit: SocketLimit): void {
    if (!this.isClosed) this.handler?.limited(limit);
    this.terminate();
  }

  /** Counts the unsent bytes. Beyond the bound of all sockets it may end this one. */
  recount(): void {
    const before = this.unsentBytes;
    this.unsentBytes = this.isClosed ? 0 : this.waitingBytes();
    if (this.unsentBytes !== before) this.all.addUnsent(this.unsentBytes - before);
  }

  /** The socket is closed: nothing can be sent any more. */
  closed(): void {
    this.isClosed = true;
    this.recount();
    this.all.delete(this);
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
