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

/** How long the end of a body is waited for, once its answer is there, where the connection ends with the answer. */
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
    if (response instanceof Promise || isBodyStream(body) || isLarge(body) || request.isLast) {
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
    if (request.isLast) {
      // The connection ends with the answer. If its client were still sending, it would see a reset, and no answer.
      request.discardBody();
      const ended = request.bodyEnded();
      if (ended) await linger(ended);
      // Never in the parser's own tick: it would run what arrived behind this request as the next one, and keep the
      // connection whatever `end` was told (uWebSockets.js 20). While no answer is given it closes on a second request.
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
      if (isLarge(body) && !isHead) await sendLarge(res, request, response, body, ending);
      else res.cork(() => writeResponse(res, response, isHead, ending));
      request.ended();
    }
    if (isBodyStream(body)) await discardStream(body);
  }

  #ending(request: UwsRequest): Ending {
    // The trailers of a chunked body are taken for the next request (uWebSockets.js 20): the connection ends with it.
    if (request.isLast && !request.isClosedByUws) return 'cut';
    return request.isLast || this.#isDraining ? 'close' : 'keep';
  }
}

/** Waits for the end of a body, but not for long. */
const linger = (ended: Promise<void>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, lingerMs).unref();
    void ended.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });

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
