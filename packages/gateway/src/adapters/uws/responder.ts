import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { type BodyStream, type HttpResponse, discardStream, isBodyStream } from '../../http/response.ts';
import type { Handle } from '../../http/service.ts';
import type { UwsRequest } from './request.ts';
import { overloaded } from './rejections.ts';
import {
  byteLength,
  isLarge,
  sendLarge,
  sendRest,
  streamResponse,
  whole,
  writeResponse,
  type Ending,
} from './respond.ts';
import { isWritableHead } from './responseHead.ts';
import { TurnCounter } from './turnCounter.ts';

type Pending = HttpResponse | Promise<HttpResponse>;

/** How long the end of a body is waited for, once its answer is there, where the connection ends with the answer. */
const lingerMs = 2000;

/**
 * The most requests that are handled in one turn of the event loop, all connections together. Further ones are handled
 * in the next turn. uWebSockets.js 20 closes the connection of one that is followed by another request meanwhile. So a
 * client that pipelines requests gets no more than this of a turn: one read of 512 KiB holds 19,000 of 27 bytes.
 */
const mostPerTurn = 500;

/** What is answered where a response cannot be written, or a handler breaks its promise never to throw. */
const broken: HttpResponse = {
  status: 500,
  headers: [['content-type', 'application/json']],
  body: JSON.stringify({ code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error', status: 500 }),
};

/** Sees requests through to the end of their answers. */
export class Responder {
  /** How many requests are not answered to their end, or have calls that have not ended though their client is gone. */
  inFlight = 0;
  /** Streams that are being sent. */
  readonly #streams = new Set<BodyStream>();
  readonly #maxUnsentBytes: number;
  readonly #onEnd: () => void;
  #unsentBytes = 0;
  #isDraining = false;
  readonly #begun = new TurnCounter();

  /** @param onEnd called whenever `inFlight` falls */
  constructor(maxUnsentBytes: number, onEnd: () => void) {
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#onEnd = onEnd;
  }

  /** The server stops: answers close their connections, and streams of events end after an event. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.end?.();
  }

  /** Answers a request by `handle`, once its body is here where that is small. */
  receive(res: NativeResponse, request: UwsRequest, handle: Handle): void {
    if (this.#begun.next() > mostPerTurn) {
      return this.track(res, request, this.#inNextTurn(res, request, handle));
    }
    const isWaiting = request.whenWhole(() => {
      if (!request.isAborted) this.answer(res, request, handle);
      this.#leave();
    });
    if (isWaiting) this.inFlight += 1;
    else this.answer(res, request, handle);
  }

  async #inNextTurn(res: NativeResponse, request: UwsRequest, handle: Handle): Promise<void> {
    await new Promise(setImmediate);
    // uWS has closed the connection of a client that pipelined another request behind this one.
    if (request.isAborted) return;
    const response = settled(() => handle(request));
    await this.later(res, request, response);
  }

  /** Answers a request by `handle`: at once where it can, within the host's handler. */
  answer(res: NativeResponse, request: UwsRequest, handle: Handle): void {
    let response: Pending;
    try {
      response = handle(request);
      if (!(response instanceof Promise)) response = writable(response);
    } catch {
      response = broken;
    }
    if (response instanceof Promise) {
      request.keep();
      this.inFlight += 1;
      response.then(
        (given) => this.#answered(res, request, given),
        () => this.#answered(res, request, broken),
      );
    } else if (isAtOnce(response, request)) {
      request.release();
      const isSent = writeResponse(res, response, request.method === 'HEAD', this.#ending(request));
      if (isSent) {
        request.ended();
      } else {
        request.keep();
        this.track(res, request, this.#finish(res, request, response.body));
      }
      request.discardBody();
    } else {
      this.track(res, request, this.later(res, request, response));
    }
  }

  /** Writes an answer that was waited for. Not by `later`, where it can be done at once: that waits, and takes 0.5 µs more. */
  #answered(res: NativeResponse, request: UwsRequest, given: HttpResponse): void {
    const response = writable(given);
    try {
      if (request.isAborted || !isAtOnce(response, request)) {
        this.track(res, request, this.later(res, request, response));
      } else {
        request.discardBody();
        let isSent = true;
        res.cork(() => {
          isSent = writeResponse(res, response, request.method === 'HEAD', this.#ending(request));
        });
        if (isSent) request.ended();
        else this.track(res, request, this.#finish(res, request, response.body));
      }
    } catch {
      giveUp(res, request);
    }
    this.#leave();
  }

  #leave(): void {
    this.inFlight -= 1;
    this.#onEnd();
  }

  /** Sees an answer to its end that its client did not take at once. */
  async #finish(res: NativeResponse, request: UwsRequest, body: HttpResponse['body']): Promise<void> {
    const given = whole(body) ?? '';
    // Its head is out, so nothing else can be said.
    if (this.#unsentBytes > this.#maxUnsentBytes) res.close();
    else await this.#unsent(given, sendRest(res, request, given));
    request.ended();
  }

  /** Counts a body while it waits for its client to take it. */
  async #unsent(body: string | Uint8Array, sending: Promise<void>): Promise<void> {
    const bytes = byteLength(body);
    this.#unsentBytes += bytes;
    await sending;
    this.#unsentBytes -= bytes;
  }

  /** Counts a request as in flight, and keeps it readable, until the work on it is done. */
  track(res: NativeResponse, request: UwsRequest, work: Promise<void>): void {
    request.keep();
    this.count(request, work, () => giveUp(res, request));
  }

  /** Counts a request as in flight until the work on it is done. */
  count(request: UwsRequest, work: Promise<void>, onFailure?: () => void): void {
    this.inFlight += 1;
    work.then(
      () => this.#leave(),
      () => {
        onFailure?.();
        this.#leave();
      },
    );
  }

  /** Answers outside the host's handler. */
  async later(res: NativeResponse, request: UwsRequest, pending: Pending): Promise<void> {
    let response: HttpResponse;
    try {
      response = writable(await pending);
    } catch {
      response = broken;
    }
    const { body } = response;
    const isHead = request.method === 'HEAD';
    const isStream = isBodyStream(body) && !isHead;
    if (request.isLast || (request.isEndless && !isStream)) {
      // The connection ends with the answer. If its client were still sending, it would see a reset, and no answer.
      request.discardBody();
      const ended = request.bodyEnded();
      if (ended) await linger(ended);
      // Never in the parser's own tick: it would run what arrived behind this request as the next one, and keep the
      // connection whatever `end` was told (uWebSockets.js 20). While no answer is given it closes on a second request.
      await new Promise(setImmediate);
    }
    if (isStream && !request.isAborted) {
      this.#streams.add(body);
      if (this.#isDraining) body.end?.();
      await streamResponse(res, request, response, body, this.#ending(request)).finally(() =>
        this.#streams.delete(body),
      );
      return;
    }
    if (!request.isAborted) {
      request.discardBody();
      const ending = this.#ending(request);
      if (isLarge(body) && !isHead && this.#unsentBytes <= this.#maxUnsentBytes) {
        await this.#unsent(body, sendLarge(res, request, response, body, ending));
      } else {
        const written = isLarge(body) && !isHead ? overloaded : response;
        // Not closed with the answer: a client that still sends would get a reset in place of it. uWS closes the paused
        // connection when it is idle.
        const isPaused = request.isEndless && !request.isClosedByUws;
        if (isPaused) res.pause();
        let isSent = true;
        res.cork(() => (isSent = writeResponse(res, written, isHead, isPaused ? 'paused' : ending)));
        // A second write would make uWebSockets.js 20 read again.
        if (!isSent && isPaused) res.close();
        else if (!isSent) return this.#finish(res, request, written.body);
      }
      request.ended();
    }
    if (isBodyStream(body)) void discardStream(body);
  }

  #ending(request: UwsRequest): Ending {
    // The trailers of a chunked body are taken for the next request (uWebSockets.js 20): the connection ends with it.
    if ((request.isLast || request.isEndless) && !request.isClosedByUws) return 'cut';
    return request.isLast || this.#isDraining ? 'close' : 'keep';
  }
}

/** Whatever could not be written is no answer: its client is not left waiting. */
function giveUp(res: NativeResponse, request: UwsRequest): void {
  if (!request.isOver) res.close();
}

/** Whether a response is written in one piece, and its connection goes on, or is closed with it. */
const isAtOnce = ({ body }: HttpResponse, request: UwsRequest) =>
  !request.isLast && !isBodyStream(body) && !isLarge(body) && !request.isEndless;

/** Waits for the end of a body, but not for long. */
const linger = (ended: Promise<void>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, lingerMs).unref();
    void ended.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });

/** What a service decides on a request: 500 where it breaks its promise never to throw and never to reject. */
export function settled<Outcome>(decide: () => Outcome): Outcome | HttpResponse {
  try {
    const outcome = decide();
    // A promise of a response, of those that it may be the promise of.
    return outcome instanceof Promise ? (outcome.catch(() => broken) as Outcome) : outcome;
  } catch {
    return broken;
  }
}

/** A response as it can be written: 500 in place of what cannot be, whatever its type says. */
function writable(response: HttpResponse): HttpResponse {
  try {
    return isWritableHead(response) && isBody(response.body) ? response : broken;
  } catch {
    return broken;
  }
}

const isBody = (body: unknown) =>
  body === undefined || typeof body === 'string' || body instanceof Uint8Array || isBodyStream(body);
