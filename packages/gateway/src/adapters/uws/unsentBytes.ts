/** What is bounded of an open socket. */
interface BoundedSocket {
  readonly unsentBytes: number;
  endFor(limit: 'unsent-bytes'): void;
}

/** How long uWebSockets.js 20 takes to end a socket after its close frame, at most (measured: 16 to 18 s). */
const closedWithinMs = 18_000;

/** Counts and bounds the unsent bytes of all WebSockets together. */
export class UnsentBytes {
  readonly #sockets: ReadonlySet<BoundedSocket>;
  readonly #max: number;
  #open = 0;
  readonly #maxClosing: number;
  #closingBytes = 0;
  /** How many sockets got a close frame less than 18 s ago: their connections may still be open. */
  closing = 0;
  /** Whether the server stops: then all may close in order, since no new connections come. */
  isStopping = false;

  /**
   * @param sockets the open ones
   * @param maxClosing how many sockets may close in order within 18 s
   */
  constructor(sockets: ReadonlySet<BoundedSocket>, max: number, maxClosing: number) {
    this.#sockets = sockets;
    this.#max = max;
    this.#maxClosing = maxClosing;
  }

  /** Adds a change of one socket's unsent bytes. Beyond the bound sockets are ended. */
  add(change: number): void {
    this.#open += change;
    if (change > 0 && this.#open > this.#max) this.#endLargest();
  }

  /**
   * Whether a socket may close in order. Its close frame waits behind its unsent bytes, and from then on uWebSockets.js 20
   * can neither end it nor report its end. All such sockets may hold a quarter of the bound, and `maxClosing` connections.
   */
  mayClose(unsent: number): boolean {
    if (this.#closingBytes + unsent > this.#max / 4) return false;
    if (this.closing >= this.#maxClosing && !this.isStopping) return false;
    this.#closingBytes += unsent;
    this.closing += 1;
    setTimeout(() => {
      this.#closingBytes -= unsent;
      this.closing -= 1;
    }, closedWithinMs).unref();
    return true;
  }

  /**
   * Ends the sockets with the most unsent bytes first: ending the one that passes the bound would let a client that holds
   * nearly all of it end the others. It frees a quarter, so that it does not run for each message.
   */
  #endLargest(): void {
    const sockets = [...this.#sockets].toSorted((a, b) => b.unsentBytes - a.unsentBytes);
    for (const socket of sockets) {
      if (this.#open <= this.#max * 0.75) return;
      socket.endFor('unsent-bytes');
    }
  }
}
