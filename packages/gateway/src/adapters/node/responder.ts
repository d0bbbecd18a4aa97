// Hot path: every request runs through it.
import { discardStream, isBodyStream, type BodyStream, type HttpResponse } from '../../http/response.ts';
import { internalError, overloaded } from '../server/rejections.ts';
import { byteLength, headOf, isLarge, wholeBody } from '../server/responseHead.ts';
import type { Socket } from 'node:net';
import { httpDate } from './httpDate.ts';
import { LeanResponse } from './lean.ts';
import type { NodeRequest } from './request.ts';
import { endResponse, sendBody, sendStream, writeHead } from './writeResponse.ts';

/** How long the end of a body is awaited before a response that closes the connection. */
const maxBodyWaitMs = 2000;

/** How long a client that still sends may take to read its response before the connection is closed. */
const lingerMs = 10_000;

type ReceivedResponse = (request: NodeRequest) => HttpResponse | Promise<HttpResponse>;

/** Answers requests, and sees their responses to the end. */
export class Responder {
  /** Requests whose response has not ended, or whose calls have not ended though the client has disconnected. */
  inFlight = 0;
  /** Bodies that are being streamed. */
  readonly #streams = new Set<BodyStream>();
  /** Connections that end with the response to a request that has come. */
  readonly #ending = new WeakSet<Socket>();
  readonly #answer: ReceivedResponse;
  readonly #maxUnsentBytes: number;
  readonly #onEnd: () => void;
  #unsentBytes = 0;
  #isDraining = false;

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
  receive(request: NodeRequest): void {
    // What follows is not to be processed (RFC 9112 §9.6), and where it begins may not be certain.
    if (this.#ending.has(request.connection)) return;
    if (request.isLast) this.#ending.add(request.connection);
    if (!request.hasSmallBody) return this.#handle(request);
    this.inFlight += 1;
    request.whenBodyReceived(() => {
      if (!request.isAborted) this.#handle(request);
      this.#end();
    });
  }

  /** Counts work as in flight until it is done. */
  count(work: Promise<void>): void {
    this.inFlight += 1;
    const onEnd = () => this.#end();
    work.then(onEnd, onEnd);
  }

  respond(request: NodeRequest, response: HttpResponse): void {
    const head = headOf(response);
    if (head === undefined) return this.respond(request, internalError);
    const { body } = response;
    const { res } = request;
    // Something else has answered it: another handler of the server in which this one is mounted.
    if (request.isAborted || res.headersSent) return void (isBodyStream(body) && discardStream(body));
    const isHead = request.method === 'HEAD';
    if (this.#unsentBytes > this.#maxUnsentBytes && isLarge(body) && !isHead) {
      return this.respond(request, overloaded);
    }
    if (
      res instanceof LeanResponse &&
      res.isFree &&
      !this.#isClosing(request) &&
      !isBodyStream(body) &&
      !isLarge(body)
    ) {
      request.discardBody();
      if (this.#sendWhole(res, head, response, isHead)) request.ended();
      else this.#track(request, this.#taken(request, byteLength(wholeBody(body))));
    } else this.#track(request, this.#respondInSteps(request, response, isHead));
  }

  #handle(request: NodeRequest): void {
    let response: HttpResponse | Promise<HttpResponse>;
    try {
      response = this.#answer(request);
    } catch {
      response = internalError;
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
    response.then(respond, () => respond(internalError));
  }

  /** Counts a request as in flight, and keeps it readable, until the work on it is done. */
  #track(request: NodeRequest, work: Promise<void>): void {
    request.keep();
    const closed = () => {
      // No response could be written: the client must not wait for one.
      if (!request.hasEnded) request.controlBody('close');
    };
    this.count(work.catch(closed));
  }

  /** @returns whether the connection has taken all of it */
  #sendWhole(res: LeanResponse, head: string, { status, body }: HttpResponse, isHead: boolean): boolean {
    const start = `HTTP/1.1 ${head}\r\nDate: ${httpDate()}`;
    if (status === 204 || status === 304) return res.sendWhole(`${start}\r\n\r\n`, undefined);
    const whole = wholeBody(body);
    const lines = `${start}\r\nContent-Length: ${byteLength(whole)}\r\n\r\n`;
    if (isHead) return res.sendWhole(lines, undefined);
    return typeof whole === 'string'
      ? res.sendWhole(lines + whole, undefined)
      : res.sendWhole(lines, whole.byteLength === 0 ? undefined : whole);
  }

  /** Waits until the connection has taken a small response, unless too much waits already. */
  async #taken(request: NodeRequest, bytes: number): Promise<void> {
    if (this.#unsentBytes > this.#maxUnsentBytes) return request.controlBody('close');
    this.#unsentBytes += bytes;
    await new Promise<void>((resolve) => {
      request.whenAborted(() => resolve());
      request.res.on('finish', resolve);
    });
    this.#unsentBytes -= bytes;
    request.ended();
  }

  /** Sees any response to its end. */
  async #respondInSteps(request: NodeRequest, response: HttpResponse, isHead: boolean): Promise<void> {
    request.keep();
    const { res } = request;
    const { body } = response;
    const isStream = isBodyStream(body) && !isHead;
    if (!request.isWaiting && (request.isLast || (request.isEndless && !isStream))) {
      // The connection closes with the response. If its client were still sending, it would see a reset, not a response.
      request.discardBody();
      await request.bodyEnded(maxBodyWaitMs);
    }
    if (request.isAborted || !isStream) {
      if (isBodyStream(body)) void discardStream(body);
      if (request.isAborted) return;
    }
    // Errors of the connection end the request by its `close`.
    res.on('error', () => {});
    const isClosing = this.#isClosing(request);
    try {
      writeHead(res, response, isHead, isClosing);
    } catch {
      if (isStream) void discardStream(body);
      return this.respond(request, internalError);
    }
    if (isStream) await this.#stream(request, body);
    else {
      request.discardBody();
      await this.#sendRest(request, isHead ? '' : wholeBody(body));
    }
    request.ended();
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
    if (request.isEndless && !request.isWaiting) linger(request);
    else await endResponse(request);
    this.#unsentBytes -= bytes;
  }

  #isClosing(request: NodeRequest): boolean {
    return (
      request.isLast ||
      request.isWaiting ||
      request.isEndless ||
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
 * Leaves a response unended of which all is written: with its end Node closes the connection, and a client that still
 * sends would see a reset in place of the response. The client closes it.
 */
function linger(request: NodeRequest): void {
  request.res.flushHeaders();
  setTimeout(() => request.controlBody('close'), lingerMs).unref();
}
