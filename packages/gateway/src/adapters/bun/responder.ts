// Hot path: called for every request.
import { type BodyStream, type HttpResponse, isBodyStream, reportedStream } from '../../http/response.ts';
import type { HttpRejection, Service } from '../../http/service.ts';
import { turn } from '../../http/turn.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { createResponse } from '../serve/fetchResponse.ts';
import type { OpenSockets } from '../serve/openSockets.ts';
import {
  badRequest,
  busyRejection,
  internalErrorResponse,
  stoppingRejection,
  targetTooLong,
  unavailableTo,
} from '../serve/rejections.ts';
import { closeOption, headRejections, isValidHost, upgradeOption } from '../serve/requestHead.ts';
import { ServiceResponder } from '../serve/serviceResponder.ts';
import type { ServeSettings } from '../serve/serveOptions.ts';
import type { NativeRequest, NativeServer } from './native.ts';
import { BunRequest } from './request.ts';

const handshakeRejection = badRequest('The WebSocket handshake is invalid (RFC 6455 §4.2.1).');

/** Maximum time until a client reads the next chunk of a stream: Bun has no timeout while it waits for the client. */
const unreadMs = 12_000;

/** Maximum time until the disconnect of a client that waits for its response is noticed, in milliseconds. */
const keepAfterMs = 2;

/** The data that Bun keeps with each WebSocket. */
export interface SocketData {
  readonly request: BunRequest;
  readonly accept: SocketAcceptor;
}

/** The result of Bun's fetch handler: nothing for a request that became a WebSocket. */
type Outcome = Response | undefined | Promise<Response | undefined>;

/** Passes requests to a service and returns its responses to Bun. */
export class BunResponder extends ServiceResponder {
  readonly #sockets: OpenSockets;
  readonly #settings: ServeSettings;
  readonly #keepAliveSeconds: number;
  #server: NativeServer | undefined;
  /** Requests whose response was not ready at once, since the last call of `#keepWaiting`. */
  readonly #waiting: BunRequest[] = [];

  constructor(service: Service, sockets: OpenSockets, settings: ServeSettings, keepAliveSeconds: number) {
    super(service);
    this.#sockets = sockets;
    this.#settings = settings;
    this.#keepAliveSeconds = keepAliveSeconds;
  }

  get inFlight(): number {
    return Math.max(this.#server?.pendingRequests ?? 0, this.running);
  }

  receive(native: NativeRequest, server: NativeServer): Outcome {
    this.#server = server;
    const request = new BunRequest(native, server, this.#settings.limits);
    if (this.isExpired) return this.#rejectLast(request, stoppingRejection);
    const isLight = request.method === 'GET' && request.query === '';
    return turn.spend(isLight) ? this.#receiveLater(request, server) : this.#receive(request, server);
  }

  #receiveLater(request: BunRequest, server: NativeServer): Outcome {
    // While a response is pending, Bun closes a connection that has pipelined another request.
    request.keep();
    return new Promise((resolve) => {
      turn.laterRequest(() => {
        if (request.isAborted || this.isExpired) resolve(this.#rejectLast(request, stoppingRejection));
        else resolve(this.#receive(request, server));
      });
    });
  }

  #receive(request: BunRequest, server: NativeServer): Outcome {
    const connection = request.header('connection') ?? 'keep-alive';
    // Nearly every request has it, or nothing.
    const hasOptions = connection !== 'keep-alive';
    if (hasOptions) request.isLast = closeOption.test(connection);
    const { size, closingSockets } = this.#sockets;
    if (server.pendingRequests + size + closingSockets > this.#settings.maxConnections) {
      return this.#rejectLast(request, busyRejection);
    }
    const { maxHeaderSize } = this.#settings.limits;
    if (!isValidHost(request.header('host') ?? '')) return this.#reject(request, headRejections.host);
    const { path, query } = request;
    if (path.length + (query === '' ? 0 : query.length + 1) > maxHeaderSize) {
      return this.#reject(request, targetTooLong(maxHeaderSize));
    }
    const isUpgrade = hasOptions && !request.isLast && upgradeOption.test(connection);
    const decision = isUpgrade ? this.#decide(request) : undefined;
    if (decision) return this.#upgrade(request, server, decision);
    return request.hasSmallBody ? this.#receiveBody(request) : this.#handle(request);
  }

  /** Decides whether a request becomes a WebSocket. Bun checks the rest of the handshake (RFC 6455 §4.2.1). */
  #decide(request: BunRequest): ReturnType<OpenSockets['decide']> {
    if (request.method !== 'GET' || request.header('upgrade')?.toLowerCase() !== 'websocket')
      return undefined;
    // Bun has neither of them after the handshake.
    request.remoteAddress();
    request.keep();
    return this.#sockets.decide(request);
  }

  #receiveBody(request: BunRequest): Promise<Response> {
    return request.native.bytes().then(
      (body) => {
        request.onSmallBody(body);
        return this.#handle(request);
      },
      // The client has disconnected and reads no response.
      () => this.#respond(request, internalErrorResponse),
    );
  }

  #handle(request: BunRequest): Response | Promise<Response> {
    const response = this.call(request);
    return response instanceof Promise
      ? this.#respondLater(request, response)
      : this.#respond(request, response);
  }

  #respondLater(request: BunRequest, pending: Promise<HttpResponse>): Promise<Response> {
    this.running += 1;
    // After the turn in which bodies are read.
    if (this.#waiting.push(request) === 1)
      setTimeout(() => setImmediate(() => this.#keepWaiting()), keepAfterMs);
    const finish = (ready: HttpResponse) => {
      this.running -= 1;
      request.hasResponse = true;
      return this.#respond(request, ready);
    };
    return pending.then(finish, () => finish(internalErrorResponse));
  }

  /** Calls `keep` for requests that still have no response: for each request, it would take a tenth of its time. */
  #keepWaiting(): void {
    for (const request of this.#waiting.splice(0)) if (!request.hasResponse) request.keep();
  }

  #respond(request: BunRequest, response: HttpResponse, isLast = this.isDraining): Response {
    const body = (response as HttpResponse | undefined)?.body;
    let sent = response;
    if (isBodyStream(body)) sent = { ...response, body: this.#stream(request, body) };
    else request.release(this.#keepAliveSeconds);
    const native = createResponse(request, sent, true);
    if (isLast || request.isLast || request.isAborted) native.headers.set('connection', 'close');
    return native;
  }

  /** Answers with a 503, and closes the connection. */
  #rejectLast(request: BunRequest, rejection: HttpRejection): Response {
    return this.#respond(request, unavailableTo(request, rejection, this.rejectHttp), true);
  }

  #reject(request: BunRequest, rejection: HttpRejection): Response {
    return this.#respond(request, this.rejectHttp(request, rejection));
  }

  #upgrade(
    request: BunRequest,
    server: NativeServer,
    decision: NonNullable<ReturnType<OpenSockets['decide']>>,
  ): Outcome {
    const finish = (outcome: SocketAcceptor | HttpResponse) => {
      if (typeof outcome !== 'function') return this.#respond(request, outcome);
      const data: SocketData = { request, accept: outcome };
      const isOpen = server.upgrade(request.native, { data });
      return isOpen ? undefined : this.#reject(request, handshakeRejection);
    };
    return decision instanceof Promise ? this.#sockets.settle(decision).then(finish) : finish(decision);
  }

  /** Returns a body that counts as in flight until it ends, and ends the connection of a client that does not read. */
  #stream(request: BunRequest, body: BodyStream): BodyStream {
    request.keep();
    this.running += 1;
    this.streams.add(body);
    if (this.isDraining) body.end?.();
    let timer: NodeJS.Timeout | undefined;
    const reported = reportedStream(body, () => {
      clearTimeout(timer);
      this.streams.delete(body);
      this.running -= 1;
      request.release(this.#keepAliveSeconds);
    });
    return {
      [Symbol.asyncIterator]() {
        const chunks = reported[Symbol.asyncIterator]();
        return {
          ...chunks,
          async next() {
            clearTimeout(timer);
            const chunk = await chunks.next();
            if (!chunk.done) timer = setTimeout(() => request.onDisconnect(), unreadMs);
            return chunk;
          },
        };
      },
    };
  }
}
