import type { UwsSocket } from './socket.ts';

/** Within how many milliseconds uWebSockets.js 20 ends a socket that is closed in order (measured: 16 to 18 s). */
const closedWithinMs = 18_000;

/** Counts the bytes that all WebSockets together have not taken, and bounds them. */
export class UnsentBytes {
  readonly #sockets: ReadonlySet<UwsSocket>;
  readonly #max: number;
  #open = 0;
  readonly #maxClosing: number;
  #closingBytes = 0;
  /** How many sockets were closed in order less than 18 s ago: their connections may be open still. */
  closing = 0;
  /** Whether the server stops: then all may close in order, since no connection takes their place. */
  isStopping = false;

  /**
   * @param sockets those that are open
   * @param maxClosing how many sockets may close in order within 18 s
   */
  constructor(sockets: ReadonlySet<UwsSocket>, max: number, maxClosing: number) {
    this.#sockets = sockets;
    this.#max = max;
    this.#maxClosing = maxClosing;
  }

  /** Counts a change of what one socket has not taken. Beyond the bound sockets are ended. */
  add(change: number): void {
    this.#open += change;
    if (change > 0 && this.#open > this.#max) this.#cut();
  }

  /**
   * Whether a socket may close in order: its close frame waits behind what it has not taken, and once it is told to close
   * uWebSockets.js 20 offers no way to end it, and does not say when it has. All those together may hold a quarter of the
   * bound, and keep `maxClosing` connections.
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
   * Ends those with the most unsent bytes first: to end the one that passes the bound would let a client that holds
   * nearly all of it end everybody else's. A quarter becomes free, so that this is not done for each message.
   */
  #cut(): void {
    const sockets = [...this.#sockets].toSorted((a, b) => b.unsentBytes - a.unsentBytes);
    for (const socket of sockets) {
      if (this.#open <= this.#max * 0.75) return;
      socket.endFor('unsent-bytes');
    }
  }
}
