// Hot path: called for every request.
import { Buffer } from 'node:buffer';
import { discardStream, isBodyStream, type BodyStream, type HttpResponse } from '../../http/response.ts';
import { internalErrorResponse, overloadedResponse } from '../server/rejections.ts';
import {
  bufferedBody,
  byteLength,
  hasForbiddenBody,
  hasNoContent,
  headOf,
  isLarge,
  withoutBody,
} from '../server/responseHead.ts';
import type { NodeRequest } from './request.ts';
import { endResponse, sendBody, sendStream, writeHead } from './writeResponse.ts';

/** Maximum wait for the end of a body before a response that closes the connection. */
const maxBodyWaitMs = 2000;

/** Maximum time for a client that is still sending to read its response, before the connection is closed. */
const lingerMs = 10_000;

type RequestHandler = (request: NodeRequest) => HttpResponse | Promise<HttpResponse>;

/** Passes requests to the service and sends the responses. */
export class Responder {
  /**
   * Number of requests whose response has not ended, or whose client has disconnected while their calls are still
   * running.
   */
  inFlight = 0;
  /** Bodies that are being streamed. */
  readonly #streams = new Set<BodyStream>();
  readonly #handler: RequestHandler;
  readonly #maxUnsentBytes: number;
  readonly #onEnd: () => void;
  #unsentBytes = 0;
  #isDraining = false;

  /** @param onEnd called whenever `inFlight` decreases */
  constructor(handler: RequestHandler, maxUnsentBytes: number, onEnd: () => void) {
    this.#handler = handler;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#onEnd = onEnd;
  }

  /** Called when the server stops: responses close their connections, and event streams end after the current event. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.end?.();
  }

  /** Handles a request. A small body is received first. */
  receive(request: NodeRequest): void {
    if (!request.hasSmallBody) return this.#handle(request);
    this.inFlight += 1;
    request.whenBodyReceived(() => {
      if (!request.isAborted) this.#handle(request);
      this.#end();
    });
  }

  /** Counts work as in flight until its promise settles. */
  count(work: Promise<void>): void {
    this.inFlight += 1;
    const onEnd = () => this.#end();
    work.then(onEnd, onEnd);
  }

  /** Sends a response; a 500 if the response is invalid. */
  respond(request: NodeRequest, response: HttpResponse): void {
    const head = headOf(response);
    if (head === undefined) return this.respond(request, internalErrorResponse);
    if (hasForbiddenBody(response)) return this.respond(request, withoutBody(response));
    const { body } = response;
    const { res } = request;
    // Another handler of the server in which this one is mounted has already responded.
    if (request.isAborted || res.headersSent) return void (isBodyStream(body) && discardStream(body));
    const isHead = request.method === 'HEAD';
    if (this.#unsentBytes > this.#maxUnsentBytes && isLarge(body) && !isHead) {
      return this.respond(request, overloadedResponse);
    }
    if (isBodyStream(body) || isLarge(body) || this.#isClosing(request)) {
      return this.#track(request, this.#respondInSteps(request, response, isHead));
    }
    request.discardBody();
    const whole = isHead || hasNoContent(response.status) ? '' : bufferedBody(body);
    try {
      writeHead(res, response, isHead, false);
    } catch {
      return this.respond(request, internalErrorResponse);
    }
    // With a text, Node encodes the head as the text: in UTF-8, it would encode header values a second time.
    if (typeof whole !== 'string') res.end(whole);
    else if (Buffer.byteLength(whole) === whole.length) res.end(whole, 'latin1');
    else res.end(Buffer.from(whole));
    // No callback if the socket has taken all of it: `finish` comes in a later turn.
    if (res.socket?.writableLength === 0) request.onResponseEnd();
    else this.#track(request, this.#whenTaken(request, byteLength(whole)));
  }

  #handle(request: NodeRequest): void {
    let response: HttpResponse | Promise<HttpResponse>;
    try {
      response = this.#handler(request);
    } catch {
      response = internalErrorResponse;
    }
    if (response instanceof Promise) this.#respondWhenReady(request, response);
    else this.respond(request, response);
  }

  #respondWhenReady(request: NodeRequest, response: Promise<HttpResponse>): void {
    request.keep();
    this.inFlight += 1;
    const respond = (ready: HttpResponse) => {
      this.respond(request, ready);
      this.#end();
    };
    response.then(respond, () => respond(internalErrorResponse));
  }

  /** Counts a request as in flight and keeps it readable until the promise settles. */
  #track(request: NodeRequest, work: Promise<void>): void {
    request.keep();
    const closeIfUnended = () => {
      // No response could be written, so the client must not wait for one.
      if (!request.hasEnded) request.controlBody('close');
    };
    this.count(work.catch(closeIfUnended));
  }

  /**
   * Waits until the socket has taken a small response. Closes the connection if the limit of unsent bytes is exceeded.
   */
  async #whenTaken(request: NodeRequest, bytes: number): Promise<void> {
    if (this.#unsentBytes > this.#maxUnsentBytes) return request.controlBody('close');
    this.#unsentBytes += bytes;
    await new Promise<void>((resolve) => {
      request.whenAborted(() => resolve());
      request.res.on('finish', resolve);
    });
    this.#unsentBytes -= bytes;
    request.onResponseEnd();
  }

  /** Sends a response of any kind, and waits for its end. */
  async #respondInSteps(request: NodeRequest, response: HttpResponse, isHead: boolean): Promise<void> {
    request.keep();
    const { res } = request;
    const { body } = response;
    const isStream = isBodyStream(body) && !isHead && !hasNoContent(response.status);
    if (!request.awaitsContinue && (request.isLast || (request.exceedsDiscardLimit && !isStream))) {
      // The connection closes with the response. A client that is still sending would get a reset instead of the
      // response.
      request.discardBody();
      await request.whenBodyEnded(maxBodyWaitMs);
    }
    if (request.isAborted || !isStream) {
      if (isBodyStream(body)) void discardStream(body);
      if (request.isAborted) return;
    }
    // Errors of the connection are handled by its event `close`.
    res.on('error', () => {});
    const isClosing = this.#isClosing(request);
    try {
      writeHead(res, response, isHead, isClosing);
    } catch {
      if (isStream) void discardStream(body);
      return this.respond(request, internalErrorResponse);
    }
    if (isStream) await this.#stream(request, body);
    else {
      request.discardBody();
      await this.#sendRest(request, isHead ? '' : bufferedBody(body));
    }
    request.onResponseEnd();
  }

  async #stream(request: NodeRequest, body: BodyStream): Promise<void> {
    this.#streams.add(body);
    if (this.#isDraining) body.end?.();
    try {
      await sendStream(request, body);
    } finally {
      this.#streams.delete(body);
    }
  }

  async #sendRest(request: NodeRequest, body: string | Uint8Array): Promise<void> {
    const bytes = byteLength(body);
    this.#unsentBytes += bytes;
    await sendBody(request, body);
    if (request.exceedsDiscardLimit && !request.awaitsContinue) linger(request);
    else await endResponse(request);
    this.#unsentBytes -= bytes;
  }

  #isClosing(request: NodeRequest): boolean {
    return (
      request.isLast ||
      request.awaitsContinue ||
      request.exceedsDiscardLimit ||
      this.#isDraining ||
      !request.res.shouldKeepAlive
    );
  }

  #end(): void {
    this.inFlight -= 1;
    this.#onEnd();
  }
}

/**
 * Leaves a fully written response unended, so that the client closes the connection. If the response ended, Node would
 * close the connection, and a client that is still sending would get a reset instead of the response.
 */
function linger(request: NodeRequest): void {
  request.res.flushHeaders();
  setTimeout(() => request.controlBody('close'), lingerMs).unref();
}
