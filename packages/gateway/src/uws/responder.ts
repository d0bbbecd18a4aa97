import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpResponse } from 'uWebSockets.js';
import {
  type GatewayBodyStream,
  type GatewayResponse,
  type Handle,
  discardStream,
  isBodyStream,
  isWritableHeader,
} from '../http.ts';
import type { UwsRequest } from './request.ts';
import { isLarge, sendLarge, streamResponse, writeResponse, type Ending } from './respond.ts';

type Pending = GatewayResponse | Promise<GatewayResponse>;

/** How long the end of a chunked body is waited for once its answer is there. */
const lingerMs = 2000;

/** What is answered where a response cannot be written, or a handler breaks its promise never to throw. */
const broken: GatewayResponse = {
  status: 500,
  headers: [['content-type', 'application/json']],
  body: JSON.stringify({ code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error', status: 500 }),
};

/** Sees requests through to the end of their answers. */
export class Responder {
  /** Requests that are not answered to their end. */
  readonly inFlight = new Set<UwsRequest>();
  /** Streams that are being sent. */
  readonly #streams = new Set<GatewayBodyStream>();
  readonly #onEnd: () => void;
  #isDraining = false;

  /** @param onEnd called whenever a request leaves `inFlight` */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** The server stops: answers close their connections, and streams of events end after an event. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.end?.();
  }

  /** Answers a request by `handle`: at once where it can, within the host's handler. */
  answer(res: HttpResponse, request: UwsRequest, handle: Handle): void {
    const response = settled(handle, request);
    const { body } = response instanceof Promise ? {} : response;
    if (response instanceof Promise || isBodyStream(body) || isLarge(body) || request.isChunked) {
      this.track(res, request, this.later(res, request, response));
    } else {
      request.release();
      request.discardBody();
      writeResponse(res, response, request.method === 'HEAD', this.#ending(request));
      request.ended();
    }
  }

  /** Counts a request as in flight, and keeps it readable, until the work on it is done. */
  track(res: HttpResponse, request: UwsRequest, work: Promise<void>): void {
    request.keep();
    this.inFlight.add(request);
    void work
      // Whatever could not be written is no answer: its client is not left waiting.
      .catch(() => {
        if (!request.isOver) res.close();
      })
      .finally(() => {
        this.inFlight.delete(request);
        this.#onEnd();
      });
  }

  /** Answers outside the host's handler. */
  async later(res: HttpResponse, request: UwsRequest, pending: Pending): Promise<void> {
    const response = writable(await pending);
    const { body } = response;
    if (request.isChunked) {
      // The connection ends with the answer. If its client were still sending, it would see a reset, and no answer.
      request.discardBody();
      await Promise.race([request.bodyEnded(), sleep(lingerMs, undefined, { ref: false })]);
      // Never in the parser's own tick: bytes that arrived with a chunked request would be run as the next one.
      await new Promise(setImmediate);
    }
    const isHead = request.method === 'HEAD';
    if (isBodyStream(body) && !isHead && !request.isAborted) {
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
      if (isLarge(body) && !isHead && !request.isChunked)
        await sendLarge(res, request, response, body, ending);
      else res.cork(() => writeResponse(res, response, isHead, ending));
      request.ended();
    }
    if (isBodyStream(body)) await discardStream(body);
  }

  #ending(request: UwsRequest): Ending {
    // The trailers of a chunked body are taken for the next request (uWebSockets.js 20): the connection ends with it.
    return request.isChunked ? 'cut' : this.#isDraining ? 'close' : 'keep';
  }
}

function settled(handle: Handle, request: UwsRequest): Pending {
  try {
    const response = handle(request);
    return response instanceof Promise ? response.catch(() => broken) : writable(response);
  } catch {
    return broken;
  }
}

const writable = (response: GatewayResponse) =>
  response.headers.every(isWritableHeader) && isBody(response.body) ? response : broken;

const isBody = (body: unknown) =>
  body === undefined || typeof body === 'string' || body instanceof Uint8Array || isBodyStream(body);
