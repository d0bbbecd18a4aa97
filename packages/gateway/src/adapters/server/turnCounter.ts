// Hot path: called for every request.

/**
 * Maximum number of requests that are handled in one turn of the event loop, over all connections. Beyond it, a connection
 * may have one more, and is closed if another one follows that it has pipelined. This limits clients that pipeline requests:
 * one read of uWebSockets.js, 512 KiB, may contain 19,000 requests of 27 bytes, and Node reads up to 32 times 64 KiB of one
 * connection in a turn.
 */
export const maxRequestsPerTurn = 500;

/** Count at which the reset is scheduled. A `setImmediate` in each turn would cost 0.4 µs per request. */
const resetCount = 64;

/** Counts events within one turn of the event loop. */
export class TurnCounter {
  #count = 0;
  readonly #reset = () => {
    this.#count = 0;
  };

  /** Counts an event. Returns the number of events in this turn, which may include up to 63 events of earlier turns. */
  next(): number {
    this.#count += 1;
    if (this.#count === resetCount) setImmediate(this.#reset);
    return this.#count;
  }
}
