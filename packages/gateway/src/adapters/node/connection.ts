import type { Socket } from 'node:net';
import type { ServedRequest } from './servedRequest.ts';

/** After how many checks in a row, a second apart, a connection is ended on which nothing happens: 11 to 12 s, as uWebSockets.js. */
const maxQuietChecks = 11;

/**
 * A connection that is not a WebSocket. Node's own time-outs set a timer for each request (1 µs), and do not end the
 * connection of a client that does not read.
 */
export class Connection {
  /** Those that outlive their handlers. */
  readonly requests = new Set<ServedRequest>();
  readonly #socket: Socket;
  #received = 0;
  #taken = 0;
  #quietChecks = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Ends the connection where its client has neither sent nor read for too long. A request that has arrived is waited for. */
  check(): void {
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    const taken = bytesWritten - writableLength;
    const isHandling = writableLength === 0 && this.#hasReceivedRequest();
    const isQuiet = bytesRead === this.#received && taken === this.#taken && !isHandling;
    this.#received = bytesRead;
    this.#taken = taken;
    this.#quietChecks = isQuiet ? this.#quietChecks + 1 : 0;
    if (this.#quietChecks >= maxQuietChecks) this.#socket.destroy();
  }

  #hasReceivedRequest(): boolean {
    for (const request of this.requests) if (request.isReceived) return true;
    return false;
  }

  /** The connection has ended. */
  closed(): void {
    for (const request of this.requests) request.aborted();
    this.requests.clear();
  }
}
