// Hot path: one request object per request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { busyResponse } from '../serve/rejections.ts';
import type { RequestLimits } from '../serve/request.ts';
import { writeLast } from './rejectInput.ts';
import { NodeRequest } from './request.ts';

/** Interval of the checks of connections, for idle clients and for Node's own timeouts. */
export const connectionCheckMs = 1000;

/**
 * Number of consecutive checks without activity, one second apart, after which a connection is closed: 11 to 12 s, as
 * in uWebSockets.js.
 */
const maxIdleChecks = 11;

/** Number of requests after the last one of a connection beyond which it closes without waiting for the response. */
const maxRequestsAfterEnd = 100;

/**
 * An HTTP connection with an idle timeout. Node's own timeouts set a timer for each request (1 µs) and do not close the
 * connection of a client that does not read.
 */
export class Connection {
  /** Requests that outlive their handlers. */
  readonly requests = new Set<ServedRequest>();
  /** Whether the connection closes after the response to a request that has already arrived. */
  isEnding = false;
  #requestsAfterEnd = 0;
  readonly #socket: Socket;
  #bytesRead = 0;
  #bytesSent = 0;
  #idleChecks = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Called for a request after the last one of the connection, which is not handled (RFC 9112 §9.6). */
  ignoreRequest(): void {
    this.#requestsAfterEnd += 1;
    // Node would create objects for each of up to 2,400 in a segment.
    if (this.#requestsAfterEnd > maxRequestsAfterEnd) this.#socket.destroy();
  }

  /**
   * Closes the connection if the client has neither sent nor read for too long. While a completely received request is
   * handled, the connection is not idle.
   */
  check(): void {
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    const bytesSent = bytesWritten - writableLength;
    const isHandling = writableLength === 0 && [...this.requests].some(({ isReceived }) => isReceived);
    const isIdle = bytesRead === this.#bytesRead && bytesSent === this.#bytesSent && !isHandling;
    this.#bytesRead = bytesRead;
    this.#bytesSent = bytesSent;
    this.#idleChecks = isIdle ? this.#idleChecks + 1 : 0;
    if (this.#idleChecks >= maxIdleChecks) this.#socket.destroy();
  }
}

/** A request to the server of this adapter (`serve`). */
export class ServedRequest extends NodeRequest {
  readonly #connection: Connection;

  constructor(message: IncomingMessage, res: ServerResponse, limits: RequestLimits, connection: Connection) {
    super(message, res, limits);
    this.#connection = connection;
  }

  /** Whether the request has arrived completely. */
  get isReceived(): boolean {
    return this.message.complete;
  }

  override onResponseEnd(): void {
    super.onResponseEnd();
    this.#connection.requests.delete(this);
  }

  protected watchConnection(): void {
    this.#connection.requests.add(this);
  }
}

/** The HTTP connections of a server, without WebSockets; over TLS, after the handshake. */
export class Connections extends Map<Socket, Connection> {
  /** Number of open TCP connections, including WebSockets. */
  open = 0;

  constructor(server: Server, isTls: boolean, maxConnections: number) {
    super();
    server.on('connection', (socket: Socket) => {
      this.open += 1;
      socket.once('close', () => (this.open -= 1));
      const isOver = this.open > maxConnections;
      // Before the TLS handshake, no response can be sent.
      if (isOver && isTls) socket.destroy();
      else if (isOver) writeLast(socket, busyResponse);
      else if (!isTls) this.#track(socket);
    });
    if (isTls) server.on('secureConnection', (socket: Socket) => this.#track(socket));
    server.once('listening', () => {
      const timer = setInterval(() => {
        for (const connection of this.values()) connection.check();
      }, connectionCheckMs).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  #track(socket: Socket): void {
    const connection = new Connection(socket);
    this.set(socket, connection);
    socket.once('close', () => {
      this.delete(socket);
      for (const request of connection.requests) request.onDisconnect();
    });
  }
}
