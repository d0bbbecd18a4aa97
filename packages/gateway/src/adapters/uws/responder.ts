// Hot path: called for every request.
import { Buffer } from 'node:buffer';
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { type BodyStream, type HttpResponse, discardStream, isBodyStream } from '../../http/response.ts';
import { internalErrorResponse, overloadedResponse } from '../server/rejections.ts';
import type { UwsRequest } from './request.ts';
import { pauseReading, streamResponse } from './streamResponse.ts';
import {
  bufferedBody,
  hasForbiddenBody,
  hasNoContent,
  headOf,
  isLarge,
  withoutBody,
} from '../server/responseHead.ts';
import { maxRequestsPerTurn, TurnCounter } from '../server/turnCounter.ts';
import { writeResponse, type Ending } from './writeResponse.ts';

/** Maximum wait for the end of a body when the connection closes after the response. */
const maxBodyWaitMs = 2000;

type RequestHandler = (request: UwsRequest) => HttpResponse | Promise<HttpResponse>;

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
  readonly #requestCounter = new TurnCounter();

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
  receive(res: NativeResponse, request: UwsRequest): void {
    const isLate = this.#requestCounter.next() > maxRequestsPerTurn;
    if (isLate || request.hasSmallBody) this.#handleLater(res, request, isLate);
    else this.#handle(res, request);
  }

  /** Sends a response outside of uWS's handler. */
  respondLater(res: NativeResponse, request: UwsRequest, response: HttpResponse): void {
    if (request.isAborted) this.#respond(res, request, response);
    else res.cork(() => this.#respond(res, request, response));
  }

  /** Counts a request as in flight and keeps it readable until the promise settles. */
  track(res: NativeResponse, request: UwsRequest, work: Promise<void>): void {
    request.keep();
    const closeIfUnended = () => {
      // No response could be written, so the client must not wait for one.
      if (!request.hasEnded) res.close();
    };
    this.count(work.catch(closeIfUnended));
  }

  /** Counts work as in flight until its promise settles. */
  count(work: Promise<void>): void {
    this.inFlight += 1;
    const onEnd = () => this.#end();
    work.then(onEnd, onEnd);
  }

  /**
   * Must be called within uWS's handler or within `cork`: a response that is available synchronously is written at
   * once.
   */
  #handle(res: NativeResponse, request: UwsRequest): void {
    let response: HttpResponse | Promise<HttpResponse>;
    try {
      response = this.#handler(request);
    } catch {
      response = internalErrorResponse;
    }
    if (response instanceof Promise) this.#respondWhenReady(res, request, response);
    else this.#respond(res, request, response);
  }

  #handleLater(res: NativeResponse, request: UwsRequest, isLate: boolean): void {
    this.inFlight += 1;
    const next = () => {
      if (!request.isAborted) this.#handle(res, request);
      this.#end();
    };
    if (!isLate) return request.whenBodyReceived(next);
    request.keep();
    setImmediate(() => {
      // uWS may have closed the connection because the client pipelined another request.
      if (request.isAborted) next();
      else res.cork(next);
    });
  }

  #respondWhenReady(res: NativeResponse, request: UwsRequest, response: Promise<HttpResponse>): void {
    request.keep();
    this.inFlight += 1;
    const respond = (ready: HttpResponse) => {
      this.respondLater(res, request, ready);
      this.#end();
    };
    response.then(respond, () => respond(internalErrorResponse));
  }

  #respond(res: NativeResponse, request: UwsRequest, response: HttpResponse): void {
    const head = headOf(response);
    if (head === undefined) return this.#respond(res, request, internalErrorResponse);
    if (hasForbiddenBody(response)) return this.#respond(res, request, withoutBody(response));
    const { body } = response;
    const isHead = request.method === 'HEAD';
    const mustWait = request.isLast || request.exceedsDiscardLimit || request.isAborted;
    if (mustWait || isBodyStream(body) || isLarge(body)) {
      const isOverloaded = this.#unsentBytes > this.#maxUnsentBytes && isLarge(body) && !isHead;
      if (isOverloaded) this.#respond(res, request, overloadedResponse);
      else this.track(res, request, this.#respondInSteps(res, request, head, response));
      return;
    }
    request.discardBody();
    if (writeResponse(res, head, response, isHead, this.#ending(request))) request.onResponseEnd();
    else this.track(res, request, this.#sendRest(res, request, response, false));
  }

  /** Sends a response of any kind, and waits for its end. */
  async #respondInSteps(
    res: NativeResponse,
    request: UwsRequest,
    head: string,
    response: HttpResponse,
  ): Promise<void> {
    request.keep();
    const { body } = response;
    const isHead = request.method === 'HEAD';
    const isStream = isBodyStream(body) && !isHead && !hasNoContent(response.status);
    if (request.isLast || (request.exceedsDiscardLimit && !isStream)) {
      // The connection closes with the response. A client that is still sending would get a reset instead of the
      // response.
      request.discardBody();
      await request.whenBodyEnded(maxBodyWaitMs);
      // Never in the parser's own tick: it would parse the bytes after this request as the next request, and keep the
      // connection open regardless of the arguments of `end` (uWebSockets.js 20). Until the response is written, a
      // second request closes the connection.
      await new Promise(setImmediate);
    }
    if (isStream && !request.isAborted) {
      this.#streams.add(body);
      if (this.#isDraining) body.end?.();
      try {
        return await streamResponse(res, request, head, body, this.#ending(request));
      } finally {
        this.#streams.delete(body);
      }
    }
    if (isBodyStream(body)) void discardStream(body);
    if (request.isAborted) return;
    request.discardBody();
    const hasLargeBody = isLarge(body) && !isHead;
    const ending = this.#ending(request);
    // A client that is still sending would get a reset instead of the response, and `end` takes a large body at once
    // and continues to read in the meantime. So the connection is paused, not closed; uWS closes it when it is idle.
    const isPaused = ending === 'force-close' && (request.exceedsDiscardLimit || hasLargeBody);
    if (isPaused) res.pause();
    const requestsClose = isPaused || (hasLargeBody && ending !== 'keep-alive');
    let isSent = true;
    res.cork(() => {
      isSent = writeResponse(res, head, response, isHead, requestsClose ? 'request-close' : ending);
    });
    if (isSent) request.onResponseEnd();
    else await this.#sendRest(res, request, response, isPaused);
  }

  /**
   * Sends the rest of a body with backpressure. Closes the connection if the limit of unsent bytes is exceeded.
   * @param isPaused whether the connection must not be read, see `pauseReading`
   */
  async #sendRest(
    res: NativeResponse,
    request: UwsRequest,
    { body }: HttpResponse,
    isPaused: boolean,
  ): Promise<void> {
    request.keep();
    // The head was sent, so no other response is possible.
    if (this.#unsentBytes > this.#maxUnsentBytes) return void res.close();
    const whole = bufferedBody(body);
    const bytes = typeof whole === 'string' ? Buffer.from(whole) : whole;
    this.#unsentBytes += bytes.byteLength;
    await new Promise<void>((resolve) => {
      const send = (from: number): boolean => {
        const [isTaken, isDone] = res.tryEnd(bytes.subarray(from), bytes.byteLength);
        if (isDone) resolve();
        return isTaken;
      };
      const sendPaused = async (from: number) => {
        await pauseReading(res, request);
        if (!request.isAborted) res.cork(() => send(from));
      };
      request.whenAborted(() => resolve());
      res.onWritable((from) => {
        if (!isPaused) return send(from);
        void sendPaused(from);
        return true;
      });
    });
    this.#unsentBytes -= bytes.byteLength;
    request.onResponseEnd();
  }

  #end(): void {
    this.inFlight -= 1;
    this.#onEnd();
  }

  #ending(request: UwsRequest): Ending {
    // uWebSockets.js 20 parses the trailers of a chunked body as the next request, so the connection closes after one.
    if ((request.isLast || request.exceedsDiscardLimit) && !request.isClosedByUws) return 'force-close';
    return request.isLast || this.#isDraining ? 'close' : 'keep-alive';
  }
}
