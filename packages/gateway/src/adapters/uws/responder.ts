// Hot path: every request runs through it.
import { Buffer } from 'node:buffer';
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { type BodyStream, type HttpResponse, discardStream, isBodyStream } from '../../http/response.ts';
import { internalError, overloaded } from '../server/rejections.ts';
import type { UwsRequest } from './request.ts';
import { pauseReading, streamResponse } from './streamResponse.ts';
import { headOf, isLarge, wholeBody } from '../server/responseHead.ts';
import { TurnCounter } from '../server/turnCounter.ts';
import { writeResponse, type Ending } from './writeResponse.ts';

/** How long the end of a body is awaited when the connection closes with the response. */
const maxBodyWaitMs = 2000;

/**
 * The most requests that are handled in one turn of the event loop, all connections together. Further ones are handled
 * in the next turn, and uWebSockets.js 20 closes the connection of one that is followed by another request meanwhile. So a
 * client that pipelines requests gets no more than this of a turn: one read of 512 KiB holds 19,000 of 27 bytes.
 */
const maxPerTurn = 500;

type ReceivedResponse = (request: UwsRequest) => HttpResponse | Promise<HttpResponse>;

/** Answers requests, and sees their responses to the end. */
export class Responder {
  /** Requests whose response has not ended, or whose calls have not ended though the client has disconnected. */
  inFlight = 0;
  /** Bodies that are being streamed. */
  readonly #streams = new Set<BodyStream>();
  readonly #answer: ReceivedResponse;
  readonly #maxUnsentBytes: number;
  readonly #onEnd: () => void;
  #unsentBytes = 0;
  #isDraining = false;
  readonly #handled = new TurnCounter();

  /** @param onEnd called whenever `inFlight` falls */
  constructor(received: ReceivedResponse, maxUnsentBytes: number, onEnd: () => void) {
    this.#answer = received;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#onEnd = onEnd;
  }

  /** The server stops: responses close their connections, and streams of events end after an event. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.end?.();
  }

  /** Handles a request, after its body has been received where that is small. */
  receive(res: NativeResponse, request: UwsRequest): void {
    const isLate = this.#handled.next() > maxPerTurn;
    if (isLate || request.hasSmallBody) this.#handleLater(res, request, isLate);
    else this.#handle(res, request);
  }

  /** Responds outside of uWS's handler. */
  respondLater(res: NativeResponse, request: UwsRequest, response: HttpResponse): void {
    if (request.isAborted) this.#respond(res, request, response);
    else res.cork(() => this.#respond(res, request, response));
  }

  /** Counts a request as in flight, and keeps it readable, until the work on it is done. */
  track(res: NativeResponse, request: UwsRequest, work: Promise<void>): void {
    request.keep();
    const closed = () => {
      // No response could be written: the client must not wait for one.
      if (!request.hasEnded) res.close();
    };
    this.count(work.catch(closed));
  }

  /** Counts a request as in flight until the work on it is done. */
  count(work: Promise<void>): void {
    this.inFlight += 1;
    const onEnd = () => this.#end();
    work.then(onEnd, onEnd);
  }

  /** Call it within uWS's handler, or corked: the response is written there where it is ready. */
  #handle(res: NativeResponse, request: UwsRequest): void {
    let response: HttpResponse | Promise<HttpResponse>;
    try {
      response = this.#answer(request);
    } catch {
      response = internalError;
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
      // Not where uWS has closed the connection of a client that pipelined another request.
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
    response.then(respond, () => respond(internalError));
  }

  #respond(res: NativeResponse, request: UwsRequest, response: HttpResponse): void {
    const head = headOf(response);
    if (head === undefined) return this.#respond(res, request, internalError);
    const { body } = response;
    const isHead = request.method === 'HEAD';
    const isWaiting = request.isLast || request.isEndless || request.isAborted;
    if (isWaiting || isBodyStream(body) || isLarge(body)) {
      const isOverloaded = this.#unsentBytes > this.#maxUnsentBytes && isLarge(body) && !isHead;
      if (isOverloaded) this.#respond(res, request, overloaded);
      else this.track(res, request, this.#respondInSteps(res, request, head, response));
      return;
    }
    request.discardBody();
    if (writeResponse(res, head, response, isHead, this.#ending(request))) request.ended();
    else this.track(res, request, this.#sendRest(res, request, response, false));
  }

  /** Sees any response to its end. */
  async #respondInSteps(
    res: NativeResponse,
    request: UwsRequest,
    head: string,
    response: HttpResponse,
  ): Promise<void> {
    request.keep();
    const { body } = response;
    const isHead = request.method === 'HEAD';
    const isStream = isBodyStream(body) && !isHead;
    if (request.isLast || (request.isEndless && !isStream)) {
      // The connection closes with the response. If its client were still sending, it would see a reset, not a response.
      request.discardBody();
      await request.bodyEnded(maxBodyWaitMs);
      // Never in the parser's own tick: it would run what arrived behind this request as the next one, and keep the
      // connection whatever `end` is told (uWebSockets.js 20). Until the response is written it closes on a second request.
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
    // A client that still sends would get a reset in place of the response, and `end` takes a large body at once and reads
    // on meanwhile. So the connection is not closed but paused: uWS closes it when it is idle.
    const isPaused = ending === 'force-close' && (request.isEndless || hasLargeBody);
    if (isPaused) res.pause();
    const isAsking = isPaused || (hasLargeBody && ending !== 'keep-alive');
    let isSent = true;
    res.cork(() => {
      isSent = writeResponse(res, head, response, isHead, isAsking ? 'ask-to-close' : ending);
    });
    if (isSent) request.ended();
    else await this.#sendRest(res, request, response, isPaused);
  }

  /**
   * Sends the rest of a body as the client takes it, unless too much waits already.
   * @param isPaused whether the connection must not be read: see `pauseReading`
   */
  async #sendRest(
    res: NativeResponse,
    request: UwsRequest,
    { body }: HttpResponse,
    isPaused: boolean,
  ): Promise<void> {
    request.keep();
    // The head is out, so there can be no other response.
    if (this.#unsentBytes > this.#maxUnsentBytes) return void res.close();
    const whole = wholeBody(body);
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
    request.ended();
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
