// Hot path: called for every request.
import { Buffer } from 'node:buffer';
import {
  hasNoContent,
  isBody,
  type BodyStream,
  discardStream,
  type Header,
  type HttpResponse,
  isBodyStream,
  isWritableHeader,
  statusText,
} from '../../http/response.ts';
import type { Service } from '../../http/service.ts';
import { turn } from '../../http/turn.ts';
import { internalErrorResponse, overloadedResponse, stoppingRejection, unavailableTo } from './rejections.ts';
import type { ServerRequest } from './request.ts';
import { ServiceResponder } from './serviceResponder.ts';

/** Maximum wait for the end of a body before a response that closes the connection. */
const maxBodyWaitMs = 2000;

/** Length from which on a body is sent with backpressure, since it may fill the buffers of the socket. */
export const largeBodyLength = 64 * 1024;

/** The body of a streamed response, as an adapter writes it. */
export interface BodySink {
  /** Writes a chunk that is not empty. @returns a promise until the socket takes more, if it is full */
  write(chunk: Uint8Array): Promise<void> | undefined;
  /** Ends the response. Resolves when it is sent or the client has disconnected. */
  end(): Promise<void>;
}

/**
 * Passes requests to a service and sends its responses.
 * @template Head status and headers of a response, as the adapter writes them
 */
export abstract class Responder<Request extends ServerRequest, Head> extends ServiceResponder {
  protected readonly maxUnsentSize: number;
  /** Bytes of responses that wait for clients to read them, without streams. */
  protected unsentBytes = 0;

  constructor(service: Service, maxUnsentSize = Infinity) {
    super(service);
    this.maxUnsentSize = maxUnsentSize;
  }

  get inFlight(): number {
    return this.running;
  }

  /** Converts status and headers. Returns `undefined` for a header that must not be written. */
  protected abstract readonly headOf: (response: HttpResponse) => Head | undefined;

  /** Writes a small response at once; the connection stays open. @returns false if `sendRest` must follow */
  protected abstract writeSmall(request: Request, head: Head, response: HttpResponse): boolean;

  /** Sends what `writeSmall` has left. Resolves when it is sent or the client has disconnected. */
  protected abstract sendRest(request: Request, body: string | Uint8Array): Promise<void>;

  /** Sends a response that is not streamed, and closes the connection if it must close. Resolves as `sendRest`. */
  protected abstract sendWhole(request: Request, head: Head, response: HttpResponse): Promise<void>;

  protected abstract openStream(request: Request, head: Head, status: number): BodySink;

  /** Whether a request behind another, or beyond the turn's budget, is handled now or later, or closes its connection. */
  protected onLate(_request: Request): 'handle' | 'delay' | 'close' {
    return 'delay';
  }

  /** Calls `handle` in a later turn, within its budget. */
  protected delay(request: Request, handle: () => void): void {
    turn.laterRequest(() => this.writeLater(request, handle));
  }

  /** Maximum of `unsentBytes` with which a response that is not sent at once may wait for its client. */
  protected unsentLimit(_request: Request): number {
    return this.maxUnsentSize;
  }

  /** Runs a task that writes, outside of the parser's callback. */
  protected writeLater(_request: Request, task: () => void): void {
    task();
  }

  /** Handles a request, in the callback of its parser. A small body is received first. */
  receive(request: Request): void {
    const isLight = request.bodyLength === 0 && request.query === '';
    const isLate = turn.spend(isLight) || request.isBehind;
    const action = isLate ? this.onLate(request) : 'handle';
    if (action === 'close' || this.isExpired) return request.controlBody('close');
    const isDelayed = action === 'delay';
    if (!isDelayed && (request.bodyLength === 0 || !request.hasSmallBody)) return this.#handle(request);
    this.running += 1;
    const handle = () => {
      // The connection may have closed because the client pipelined another request.
      if (!request.isAborted) {
        if (this.isExpired) this.respond(request, unavailableTo(request, stoppingRejection, this.rejectHttp));
        else this.#handle(request);
      }
      this.running -= 1;
    };
    if (!isDelayed) return request.whenBodyReceived(handle);
    request.keep();
    this.delay(request, handle);
  }

  /** Sends a response outside of the parser's callback. */
  respondLater(request: Request, response: HttpResponse): void {
    this.writeLater(request, () => this.respond(request, response));
  }

  /** Counts a request as in flight and keeps it readable until the promise settles. */
  track(request: Request, work: Promise<void>): void {
    request.keep();
    const closeIfUnended = () => {
      // No response could be written, so the client must not wait for one.
      if (!request.hasEnded) request.controlBody('close');
    };
    this.count(work.catch(closeIfUnended));
  }

  /** Sends a response (500 if invalid), small ones at once. In the parser's callback or `writeLater` only. */
  respond(request: Request, response: HttpResponse): void {
    let head: Head | undefined;
    try {
      const { status, body } = response;
      // Statuses below 200 do not end a request (RFC 9110 §15.2).
      const isFinal = Number.isInteger(status) && status >= 200 && status <= 999;
      // Nearly every body is a string: no further call for it.
      if (isFinal && (typeof body === 'string' || isBody(body))) head = this.headOf(response);
    } catch {
      // The service ignored the types: the response is not an object, for example.
    }
    if (head === undefined) return this.respond(request, internalErrorResponse);
    const { status, body } = response;
    // A 205 has no body, but unlike a 204 it has a length, of 0 (RFC 9110 §15.3.6, RFC 9112 §6.3).
    if (status === 205 && body !== undefined) {
      if (isBodyStream(body)) void discardStream(body);
      return this.respond(request, { ...response, body: undefined });
    }
    const isWhole = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const isLarge = isWhole && body !== undefined && body.length > largeBodyLength;
    if (isLarge && this.unsentBytes > this.maxUnsentSize && request.method !== 'HEAD') {
      return this.respond(request, overloadedResponse);
    }
    const hasUnreadBody = request.bodyLength !== 0 && !request.isBodyTaken;
    const mustWait =
      (request.isLast && (hasUnreadBody || !request.closesAtOnce)) ||
      request.isAborted ||
      request.awaitsContinue ||
      (hasUnreadBody && request.exceedsDiscardLimit);
    if (mustWait || isLarge || !isWhole) {
      return this.track(request, this.#respondInSteps(request, head, response));
    }
    if (hasUnreadBody) request.discardBody();
    let isTaken: boolean;
    try {
      isTaken = this.writeSmall(request, head, response);
    } catch {
      // Node or a middleware of the user's server threw, maybe after a part was written.
      return request.controlBody('close');
    }
    if (isTaken) return request.onResponseEnd();
    const sent = this.whenSent(request, body ?? '', () => this.sendRest(request, body ?? ''));
    this.track(request, sent);
  }

  /** Counts a body as unsent until it is sent. Closes the connection if too many bytes wait already. */
  protected async whenSent(
    request: Request,
    body: string | Uint8Array,
    send: () => Promise<void>,
  ): Promise<void> {
    request.keep();
    // The head was sent, so no other response is possible.
    if (this.unsentBytes > this.unsentLimit(request)) return request.controlBody('close');
    const bytes = byteLength(body);
    this.unsentBytes += bytes;
    try {
      await send();
    } finally {
      this.unsentBytes -= bytes;
    }
    request.onResponseEnd();
  }

  #handle(request: Request): void {
    const response = this.call(request, request.rejection);
    if (response instanceof Promise) this.#respondWhenReady(request, response);
    else this.respond(request, response);
  }

  #respondWhenReady(request: Request, response: Promise<HttpResponse>): void {
    request.keep();
    this.running += 1;
    const respond = (ready: HttpResponse) => {
      try {
        this.respondLater(request, ready);
      } finally {
        this.running -= 1;
      }
    };
    response.then(respond, () => respond(internalErrorResponse));
  }

  /** Sends a response of any kind, and waits for its end. */
  async #respondInSteps(request: Request, head: Head, response: HttpResponse): Promise<void> {
    request.keep();
    const { status, body } = response;
    const isStream = isBodyStream(body) && request.method !== 'HEAD' && !hasNoContent(status);
    if (!request.awaitsContinue && (request.isLast || (request.exceedsDiscardLimit && !isStream))) {
      // It closes with the response. A client that is still sending would get a reset instead.
      request.discardBody();
      await request.whenBodyEnded(maxBodyWaitMs);
      // Never in the parser's tick: uWebSockets.js 20 would parse the following bytes as the next request and keep the
      // connection open, whatever the arguments of `end`. Until the response, a second request closes it.
      await new Promise(setImmediate);
    }
    if (request.isAborted || !isStream) {
      if (isBodyStream(body)) void discardStream(body);
      if (request.isAborted) return;
      request.discardBody();
      return this.sendWhole(request, head, response);
    }
    await this.#sendStream(request, head, status, body);
  }

  /**
   * Sends a stream with backpressure. If it fails, the connection closes, so that the client sees that the body is
   * incomplete. Resolves when all is sent or the client has disconnected; the producer may end later.
   */
  async #sendStream(request: Request, head: Head, status: number, body: BodyStream): Promise<void> {
    this.streams.add(body);
    if (this.isDraining) body.end?.();
    let chunks: AsyncIterator<Uint8Array> | undefined;
    try {
      const sink = this.openStream(request, head, status);
      const wait = unlessAborted(request);
      chunks = body[Symbol.asyncIterator]();
      while (!request.isAborted) {
        const next = await wait(chunks.next());
        if (next === undefined || request.isAborted) break;
        if (next.done) {
          request.discardBody();
          await sink.end();
          return request.onResponseEnd();
        }
        // An empty chunk would end the response (RFC 9112 §7.1).
        const drained = next.value.byteLength === 0 ? undefined : sink.write(next.value);
        if (drained) await wait(drained);
      }
    } catch {
      request.controlBody('close');
    } finally {
      this.streams.delete(body);
    }
    void discardStream(body, chunks);
  }
}

/**
 * Creates a function that waits for a promise, or until the client disconnects. Only one promise can be pending at a time.
 * `Promise.race` would add reactions that live as long as the response.
 */
export function unlessAborted(request: ServerRequest): <T>(pending: Promise<T>) => Promise<T | undefined> {
  let interrupt = () => {};
  request.whenAborted(() => interrupt());
  return (pending) =>
    new Promise((resolve, reject) => {
      interrupt = () => resolve(undefined);
      if (request.isAborted) interrupt();
      pending.then(resolve, reject);
    });
}

/** Header lines of shared headers, which are validated and joined once. */
const sharedLinesCache = new WeakMap<readonly Header[], string>();

/**
 * Returns the status line after the version and the header lines of a response as one text, without the last line
 * break. Returns `undefined` for a header that must not be written.
 */
export function headText({ status, headers, sharedHeaders }: HttpResponse): string | undefined {
  let text = `${status} ${statusText(status)}`;
  if (sharedHeaders !== undefined) {
    let shared = sharedLinesCache.get(sharedHeaders);
    if (shared === undefined) {
      if (!sharedHeaders.every(isWritableHeader)) return undefined;
      // `join`, not `+`: V8 would flatten the concatenated string again for each response, 0.3 µs.
      shared = sharedHeaders.map(([name, value]) => `\r\n${name}: ${value}`).join('');
      sharedLinesCache.set(sharedHeaders, shared);
    }
    text += shared;
  }
  for (const header of headers) {
    if (!isWritableHeader(header)) return undefined;
    text += `\r\n${header[0]}: ${header[1]}`;
  }
  return text;
}

/** Returns the body, or `''` if there is none or it is a stream. */
export const bufferedBody = (body: HttpResponse['body']): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : '';

export const byteLength = (body: string | Uint8Array): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
