// Hot path: every request runs through it.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { type BodyStream, type HttpResponse, discardStream, isBodyStream } from '../../http/response.ts';
import type { Handle } from '../../http/service.ts';
import { internalError, overloaded } from './rejections.ts';
import type { UwsRequest } from './request.ts';
import { streamResponse } from './streamResponse.ts';
import { TurnCounter } from './turnCounter.ts';
import {
  byteLength,
  isLarge,
  isWritable,
  sendRest,
  wholeBody,
  writeResponse,
  type Ending,
} from './writeResponse.ts';

/** How long the end of a body is awaited when the connection closes with the response. */
const maxBodyWaitMs = 2000;

/**
 * The most requests that are handled in one turn of the event loop, all connections together. Further ones are handled
 * in the next turn, and uWebSockets.js 20 closes the connection of one that is followed by another request meanwhile. So a
 * client that pipelines requests gets no more than this of a turn: one read of 512 KiB holds 19,000 of 27 bytes.
 */
const maxPerTurn = 500;

/** Calls handlers, and sees their responses to the end. */
export class Responder {
  /** Requests whose response has not ended, or whose calls have not ended though the client has disconnected. */
  inFlight = 0;
  /** Bodies that are being streamed. */
  readonly #streams = new Set<BodyStream>();
  readonly #maxUnsentBytes: number;
  readonly #onEnd: () => void;
  #unsentBytes = 0;
  #isDraining = false;
  readonly #handled = new TurnCounter();

  /** @param onEnd called whenever `inFlight` falls */
  constructor(maxUnsentBytes: number, onEnd: () => void) {
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#onEnd = onEnd;
  }

  /** The server stops: responses close their connections, and streams of events end after an event. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.end?.();
  }

  /** Handles a request, after its body has been received where that is small. */
  receive(res: NativeResponse, request: UwsRequest, handle: Handle): void {
    if (this.#handled.next() > maxPerTurn) {
      this.track(res, request, this.#handleInNextTurn(res, request, handle));
    } else if (
      request.receiveSmallBody(() => {
        if (!request.isAborted) this.handle(res, request, handle);
        this.#end();
      })
    ) {
      this.inFlight += 1;
    } else {
      this.handle(res, request, handle);
    }
  }

  async #handleInNextTurn(res: NativeResponse, request: UwsRequest, handle: Handle): Promise<void> {
    await new Promise(setImmediate);
    // uWS has closed the connection of a client that pipelined another request.
    if (!request.isAborted) await this.respond(res, request, await orInternalError(() => handle(request)));
  }

  /** Calls `handle` within uWS's handler, and writes the response there where it is ready. */
  handle(res: NativeResponse, request: UwsRequest, handle: Handle): void {
    let response: HttpResponse | Promise<HttpResponse>;
    try {
      response = handle(request);
    } catch {
      response = internalError;
    }
    if (response instanceof Promise) {
      request.keep();
      this.inFlight += 1;
      response.then(
        (ready) => this.#respondLater(res, request, ready),
        () => this.#respondLater(res, request, internalError),
      );
      return;
    }
    response = orWritable(response);
    if (isSimple(response, request)) this.#write(res, request, response);
    else this.track(res, request, this.respond(res, request, response));
  }

  /** Writes a response that was awaited. Not by `respond` where it can be written at once: that takes 0.5 µs more. */
  #respondLater(res: NativeResponse, request: UwsRequest, given: HttpResponse): void {
    const response = orWritable(given);
    if (request.isAborted || !isSimple(response, request)) {
      this.track(res, request, this.respond(res, request, response));
    } else {
      try {
        res.cork(() => this.#write(res, request, response));
      } catch {
        giveUp(res, request);
      }
    }
    this.#end();
  }

  #write(res: NativeResponse, request: UwsRequest, response: HttpResponse): void {
    request.discardBody();
    if (writeResponse(res, response, request.method === 'HEAD', this.#ending(request))) request.ended();
    else this.track(res, request, this.#sendRest(res, request, response, false));
  }

  /** Sees any response to its end, outside uWS's handler. */
  async respond(res: NativeResponse, request: UwsRequest, given: HttpResponse): Promise<void> {
    request.keep();
    const response = orWritable(given);
    const { body } = response;
    const isHead = request.method === 'HEAD';
    const isStream = isBodyStream(body) && !isHead;
    if (request.isLast || (request.isEndless && !isStream)) {
      // The connection closes with the response. If its client were still sending, it would see a reset, not a response.
      request.discardBody();
      await upTo(maxBodyWaitMs, request.bodyEnded());
      // Never in the parser's own tick: it would run what arrived behind this request as the next one, and keep the
      // connection whatever `end` is told (uWebSockets.js 20). Until the response is written it closes on a second request.
      await new Promise(setImmediate);
    }
    if (isStream && !request.isAborted) {
      this.#streams.add(body);
      if (this.#isDraining) body.end?.();
      try {
        await streamResponse(res, request, response, body, this.#ending(request));
      } finally {
        this.#streams.delete(body);
      }
      return;
    }
    if (isBodyStream(body)) void discardStream(body);
    if (!request.isAborted) await this.#writeWhole(res, request, response, isHead);
  }

  async #writeWhole(
    res: NativeResponse,
    request: UwsRequest,
    given: HttpResponse,
    isHead: boolean,
  ): Promise<void> {
    request.discardBody();
    const hasLargeBody = isLarge(given.body) && !isHead;
    const response = hasLargeBody && this.#unsentBytes > this.#maxUnsentBytes ? overloaded : given;
    const ending = this.#ending(request);
    // A client that still sends would get a reset in place of the response, and `end` takes a large body at once and reads
    // on meanwhile. So the connection is not closed but paused: uWS closes it when it is idle.
    const isPaused = ending === 'force-close' && (request.isEndless || hasLargeBody);
    if (isPaused) res.pause();
    let isSent = true;
    res.cork(() => {
      const isAsking = isPaused || (hasLargeBody && ending !== 'keep-alive');
      isSent = writeResponse(res, response, isHead, isAsking ? 'ask-to-close' : ending);
    });
    if (!isSent) await this.#sendRest(res, request, response, isPaused);
    request.ended();
  }

  /** Waits until the client takes the rest of a body, unless too much waits already. */
  async #sendRest(
    res: NativeResponse,
    request: UwsRequest,
    response: HttpResponse,
    isPaused: boolean,
  ): Promise<void> {
    request.keep();
    const body = wholeBody(response.body);
    // The head is out, so there can be no other response.
    if (this.#unsentBytes > this.#maxUnsentBytes) return void res.close();
    const bytes = byteLength(body);
    this.#unsentBytes += bytes;
    await sendRest(res, request, body, isPaused);
    this.#unsentBytes -= bytes;
    request.ended();
  }

  /** Counts a request as in flight, and keeps it readable, until the work on it is done. */
  track(res: NativeResponse, request: UwsRequest, work: Promise<void>): void {
    request.keep();
    this.count(work.catch(() => giveUp(res, request)));
  }

  /** Counts a request as in flight until the work on it is done. */
  count(work: Promise<void>): void {
    this.inFlight += 1;
    const onEnd = () => this.#end();
    work.then(onEnd, onEnd);
  }

  #end(): void {
    this.inFlight -= 1;
    this.#onEnd();
  }

  #ending(request: UwsRequest): Ending {
    // The trailers of a chunked body are taken for the next request (uWebSockets.js 20): the connection closes with it.
    if ((request.isLast || request.isEndless) && !request.isClosedByUws) return 'force-close';
    return request.isLast || this.#isDraining ? 'close' : 'keep-alive';
  }
}

/** No response could be written: the client must not wait for one. */
function giveUp(res: NativeResponse, request: UwsRequest): void {
  if (!request.isOver) res.close();
}

/** Whether a response is written in one piece, and its request leaves the connection to the next one. */
const isSimple = ({ body }: HttpResponse, request: UwsRequest) =>
  !request.isLast && !isBodyStream(body) && !isLarge(body) && !request.isEndless;

/** Waits for a promise, but not longer than `ms`. */
async function upTo(ms: number, promise: Promise<void> | undefined): Promise<void> {
  if (promise === undefined) return;
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, ms).unref();
  await Promise.race([promise, timeout.promise]);
  clearTimeout(timer);
}

/** What a service decides on a request: 500 where it throws or rejects, which it must not. */
export function orInternalError<Outcome>(decide: () => Outcome): Outcome | HttpResponse {
  try {
    const outcome = decide();
    // A promise of a response, of those that it may be the promise of.
    return outcome instanceof Promise ? (outcome.catch(() => internalError) as Outcome) : outcome;
  } catch {
    return internalError;
  }
}

function orWritable(response: HttpResponse): HttpResponse {
  try {
    return isWritable(response) ? response : internalError;
  } catch {
    // It is no object, say.
    return internalError;
  }
}
