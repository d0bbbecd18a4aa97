import type { Socket } from 'node:net';
import type { ServedRequest } from './servedRequest.ts';

/**
 * Number of consecutive checks without activity, one second apart, after which a connection is closed: 11 to 12 s, as
 * in uWebSockets.js.
 */
const maxIdleChecks = 11;

/**
 * An HTTP connection with an idle timeout. Node's own timeouts set a timer for each request (1 µs) and do not close the
 * connection of a client that does not read.
 */
export class Connection {
  /** Requests that outlive their handlers. */
  readonly requests = new Set<ServedRequest>();
  readonly #socket: Socket;
  #bytesRead = 0;
  #bytesSent = 0;
  #idleChecks = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /**
   * Closes the connection if the client has neither sent nor read for too long. While a completely received request is
   * handled, the connection is not idle.
   */
  check(): void {
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    const bytesSent = bytesWritten - writableLength;
    const isHandling = writableLength === 0 && this.#hasReceivedRequest();
    const isIdle = bytesRead === this.#bytesRead && bytesSent === this.#bytesSent && !isHandling;
    this.#bytesRead = bytesRead;
    this.#bytesSent = bytesSent;
    this.#idleChecks = isIdle ? this.#idleChecks + 1 : 0;
    if (this.#idleChecks >= maxIdleChecks) this.#socket.destroy();
  }

  #hasReceivedRequest(): boolean {
    for (const request of this.requests) if (request.isReceived) return true;
    return false;
  }

  /** Called when the connection has closed. */
  onClose(): void {
    for (const request of this.requests) request.onDisconnect();
    this.requests.clear();
  }
}
