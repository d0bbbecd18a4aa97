// Hot path: one request object per request.
import type { ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { noBytes, type BodyBuffer } from '../serve/bodyBuffer.ts';
import { busyResponse } from '../serve/rejections.ts';
import type { RequestLimits } from '../serve/requestHead.ts';
import type { ServeSettings } from '../serve/serveOptions.ts';
import { http } from './builtins.ts';
import { writeLast } from './rejectInput.ts';
import { NodeRequest } from './request.ts';

/** Interval of the checks of connections, for idle clients and for Node's own timeouts. */
export const connectionCheckMs = 1000;

/** Time without activity after which a connection is closed within a second: 11 to 12 s, as in uWebSockets.js. */
const idleMs = 11_000;

/** Number of requests after the last one of a connection beyond which it closes without waiting for the response. */
const maxRequestsAfterEnd = 100;

/** Has an idle timeout: Node's set a timer per request (1 µs), and do not close if the client never reads. */
export class Connection {
  /** Requests that outlive their handlers, in no order. A `Set` allocates a new table for every few of them. */
  readonly requests: ServedRequest[] = [];
  /** Whether the connection closes after the response to a request that has already arrived. */
  isEnding = false;
  #requestsAfterEnd = 0;
  readonly #socket: Socket;
  readonly #keepAliveMs: number;
  #bytesRead = 0;
  #bytesSent = 0;
  #idleChecks = 0;

  /** @param keepAliveMs time without activity between two requests after which the connection is closed */
  constructor(socket: Socket, keepAliveMs: number = idleMs) {
    this.#socket = socket;
    this.#keepAliveMs = keepAliveMs;
  }

  /** Called for a request after the last one of the connection, which is not handled (RFC 9112 §9.6). */
  ignoreRequest(): void {
    this.#requestsAfterEnd += 1;
    // Node would create objects for each of up to 2,400 in a segment.
    if (this.#requestsAfterEnd > maxRequestsAfterEnd) this.#socket.destroy();
  }

  /** Removes a request from `requests`. */
  remove(request: ServedRequest): void {
    const last = this.requests.pop();
    // Unless the client pipelines, there is no other.
    if (last !== undefined && last !== request) this.requests[this.requests.indexOf(request)] = last;
  }

  /**
   * Closes the connection if the client has neither sent nor read for too long. While a complete request is handled, it
   * is not idle. Between two requests it may be idle for longer; Node limits the next head by `headersTimeout`.
   */
  check(): void {
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    const bytesSent = bytesWritten - writableLength;
    const isHandling = writableLength === 0 && this.requests.some(({ isReceived }) => isReceived);
    const isIdle = bytesRead === this.#bytesRead && bytesSent === this.#bytesSent && !isHandling;
    this.#bytesRead = bytesRead;
    this.#bytesSent = bytesSent;
    this.#idleChecks = isIdle ? this.#idleChecks + 1 : 0;
    const isBetweenRequests = bytesSent > 0 && writableLength === 0 && this.requests.length === 0;
    const maxMs = isBetweenRequests ? this.#keepAliveMs : idleMs;
    if (this.#idleChecks * connectionCheckMs >= maxMs) this.#socket.destroy();
  }
}

/**
 * A message of a server without other listeners for its messages. Node takes 3 µs for the end of a stream (four events
 * in three ticks), and 25 µs for a small body read from one: so an empty body has no end, and a small one goes from the
 * parser to its buffer. Undocumented: Node 22 to 26 call `push` for each chunk and the end, and `resume` after the
 * response, and then read `readableEnded`. Without `push`, a small body gets no response, and its tests fail.
 */
export class Message extends http.IncomingMessage {
  /** `upgrade` as Node has set it, first in its constructor. */
  isUpgrade = false;
  /** Whether the stream has no reader, since the body is empty or passed on. */
  #isUnread = false;
  #receiver: BodyBuffer | undefined = undefined;
  /** The chunk that is passed on with the next one, which tells whether it is the last. */
  #chunk: Uint8Array = noBytes;
  #onRest: (() => void) | undefined = undefined;

  /**
   * Whether the parser stops: as Node has set it, and after a close. Otherwise, Node would create and abort up to 1,900
   * requests of a 64 KiB segment: 30 ms per connection of a flood instead of 5 (Node 22). Undocumented: the parser
   * reads it, and leaves the rest to the upgrade. If a version does not, only floods cost more.
   */
  get upgrade(): boolean {
    return this.isUpgrade || this.socket.destroyed;
  }

  set upgrade(isUpgrade: boolean) {
    this.isUpgrade = isUpgrade;
  }

  /** Passes the body on, without a limit: for a body that is small. Without a receiver, the body is empty. */
  passBodyTo(receiver?: BodyBuffer): void {
    this.#isUnread = true;
    this.#receiver = receiver;
  }

  /**
   * Passes on the chunks that the parser has in this turn of the event loop: most chunked bodies are in one packet with their
   * head. Calls `onRest` if the body has not ended by then; its stream has the rest.
   */
  passArrivedTo(receiver: BodyBuffer, onRest: () => void): void {
    this.passBodyTo(receiver);
    this.#onRest = onRest;
    // Not in a tick, since Node drains them between a chunk and the end of the message.
    if (arriving.push(this) === 1) setImmediate(streamRests);
  }

  streamRest(): void {
    const receiver = this.#receiver;
    // The body has ended.
    if (receiver === undefined) return;
    this.#isUnread = false;
    this.#receiver = undefined;
    if (this.#chunk !== noBytes) receiver.push(this.#chunk, false, true);
    this.#onRest?.();
  }

  /** Called by the parser for each chunk, and with `null` for the end. */
  override push(chunk: Uint8Array | null): boolean {
    if (!this.#isUnread) return super.push(chunk);
    const receiver = this.#receiver;
    if (receiver === undefined) return true;
    const isLast = chunk === null;
    const earlier = this.#chunk;
    this.#chunk = chunk ?? noBytes;
    if (isLast) this.#receiver = undefined;
    if (isLast || earlier !== noBytes) receiver.push(earlier, isLast, true);
    return true;
  }

  /** Called by Node for a body that has not been read, when the response was sent. */
  override resume(): this {
    return this.#isUnread ? this : super.resume();
  }

  static {
    // Node's parser keeps a message whose stream has not ended. The types have a property, which no getter may override.
    Object.defineProperty(this.prototype, 'readableEnded', {
      get(this: Message): unknown {
        return this.#isUnread || Reflect.get(http.IncomingMessage.prototype, 'readableEnded', this);
      },
    });
  }
}

/** Messages whose chunks are passed on in this turn of the event loop. */
let arriving: Message[] = [];

function streamRests(): void {
  const messages = arriving;
  arriving = [];
  for (const message of messages) message.streamRest();
}

/** A request to the server of this adapter (`serve`). */
export class ServedRequest extends NodeRequest {
  declare protected readonly message: Message;
  readonly #connection: Connection;
  /** Whether the connection has it, as one that outlives its handler. Few requests do. */
  #isWatched = false;

  constructor(message: Message, res: ServerResponse, limits: RequestLimits, connection: Connection) {
    super(message, res, limits);
    this.#connection = connection;
    if (this.bodyLength === 0 && this.rejection === undefined) message.passBodyTo();
  }

  get isReceived(): boolean {
    return this.message.complete;
  }

  override onResponseEnd(): void {
    super.onResponseEnd();
    if (this.#isWatched) this.#connection.remove(this);
    this.#isWatched = false;
  }

  protected watchConnection(): void {
    this.#isWatched = true;
    this.#connection.requests.push(this);
  }

  override get hasSmallBody(): boolean {
    return this.#mayHaveArrived || super.hasSmallBody;
  }

  /** Whether the body is chunked, so that its end may be in the packet that is being parsed. */
  get #mayHaveArrived(): boolean {
    return Number.isNaN(this.bodyLength) && !this.awaitsContinue && (!this.isLast || this.closesAtOnce);
  }

  protected override receive(body: BodyBuffer): void {
    if (this.#mayHaveArrived) {
      this.message.passArrivedTo(body, () => {
        super.receive(body);
        this.onBodyEnd();
      });
    } else if (this.hasSmallBody) this.message.passBodyTo(body);
    else super.receive(body);
  }
}

/** The HTTP connections of a server, without WebSockets; over TLS, after the handshake. */
export class Connections extends Map<Socket, Connection> {
  /** Number of open TCP connections, including WebSockets. */
  open = 0;

  constructor(server: Server, { keepAliveMs, maxConnections, tls }: ServeSettings) {
    super();
    const isTls = tls !== undefined;
    server.on('connection', (socket: Socket) => {
      this.open += 1;
      socket.once('close', () => (this.open -= 1));
      const isOver = this.open > maxConnections;
      // Before the TLS handshake, no response can be sent.
      if (isOver && isTls) socket.destroy();
      else if (isOver) writeLast(socket, busyResponse);
      else if (!isTls) this.#track(socket, keepAliveMs);
    });
    if (isTls) server.on('secureConnection', (socket: Socket) => this.#track(socket, keepAliveMs));
    server.once('listening', () => {
      const timer = setInterval(() => {
        for (const connection of this.values()) connection.check();
      }, connectionCheckMs).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  #track(socket: Socket, keepAliveMs: number): void {
    const connection = new Connection(socket, keepAliveMs);
    this.set(socket, connection);
    socket.once('close', () => {
      this.delete(socket);
      // A copy: a request may end meanwhile.
      for (const request of connection.requests.slice()) request.onDisconnect();
    });
  }
}
