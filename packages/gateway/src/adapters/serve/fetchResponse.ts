// Hot path: called for every response of `gateway.fetch` and of Bun.
import {
  type BodyStream,
  discardStream,
  hasNoBody,
  type Header,
  type HttpResponse,
  isBody,
  isBodyStream,
  isWritableHeader,
  utf8Bytes,
} from '../../http/response.ts';
import type { Bytes } from '../../http/request.ts';
import type { FetchRequest } from './fetchRequest.ts';
import { internalErrorResponse } from './rejections.ts';
import { nonPrintable } from './requestHead.ts';

/** Bun, which leaves out `Date` in a response to HEAD, and `Connection: close`. */
export const onBun = 'Bun' in globalThis;

/**
 * Converts a response to a WHATWG `Response`: to a 500 if the service ignored the types, so that the response is not an
 * object, or its status, a header or the body is invalid.
 * @param writesTexts whether the runtime writes a body that is a string as fast as its bytes
 */
export function createResponse(request: FetchRequest, response: HttpResponse, writesTexts = false): Response {
  try {
    return convert(request, response, writesTexts);
  } catch {
    const body = (response as HttpResponse | undefined)?.body;
    if (isBodyStream(body)) void discardStream(body);
    return convert(request, internalErrorResponse, writesTexts);
  }
}

/** @throws {TypeError | RangeError} for an invalid response */
function convert(request: FetchRequest, response: HttpResponse, writesTexts: boolean): Response {
  const { status, body } = response;
  // `Response` would accept a string as the status, any object as the body, and on Bun 101.
  if (!Number.isInteger(status) || status < 200 || !isBody(body))
    throw new TypeError('The response is invalid.');
  // The constructor of `Response` rejects a body for these statuses, even an empty one (Fetch Standard §2.2.3).
  if (request.method === 'HEAD' || hasNoBody(status)) {
    const native = withHeaders(response, null, writesTexts);
    if (onBun && !native.headers.has('date')) native.headers.set('date', new Date().toUTCString());
    if (isBodyStream(body)) void discardStream(body);
    else if (!hasNoBody(status)) native.headers.append('content-length', String(bytesOf(body)?.length ?? 0));
    return native;
  }
  return withHeaders(response, isBodyStream(body) ? readableStream(request, body) : body, writesTexts);
}

/** A body as a service returns it, or as the stream that it was converted to; `null` for none. */
type NativeBody = string | Uint8Array | ReadableStream<Uint8Array> | null | undefined;

const bytesOf = (body: string | Uint8Array | undefined) =>
  typeof body === 'string' ? utf8Bytes(body) : body;

/**
 * Native headers of all responses with the same shared headers. `Response` copies them (Fetch Standard §5.5). A
 * `Headers` for each response would take a tenth of the time of a GET on Bun.
 */
class NativeHeaders {
  readonly #native = new Headers();
  readonly hasType: boolean;
  /**
   * The names of the own headers of the last response, which are still set. Nearly every response has the same, so each
   * is replaced, and not added and removed: a third of the time on Bun, a fifth on Node.
   */
  #ownNames: readonly string[] = [];

  constructor(shared: readonly Header[]) {
    append(this.#native, shared);
    this.hasType = this.#native.has('content-type');
  }

  /** Returns the headers of a response, until those of the next one are set. @throws {TypeError} for an invalid header */
  with(own: readonly Header[]): Headers {
    if (!hasNames(own, this.#ownNames) && !this.#replaceNames(own)) {
      // Not `set`, which would replace a shared header.
      return append(new Headers(this.#native), own);
    }
    // The names were checked when they were set before.
    for (const header of own) {
      const value: unknown = header[1];
      const isPlain = typeof value === 'string' && !nonPrintable.test(value);
      this.#native.set(header[0], isPlain ? value : writableValue(header));
    }
    return this.#native;
  }

  /** @returns false if a name occurs twice, here or in the shared headers */
  #replaceNames(own: readonly Header[]): boolean {
    for (const name of this.#ownNames) this.#native.delete(name);
    this.#ownNames = [];
    const names = own.map(([name]) => name);
    const isRepeated = new Set(names.map((name) => name.toLowerCase())).size < names.length;
    if (isRepeated || names.some((name) => this.#native.has(name))) return false;
    if (!own.every(isWritableHeader)) return false;
    this.#ownNames = names;
    return true;
  }
}

function hasNames(headers: readonly Header[], names: readonly string[]): boolean {
  if (headers.length !== names.length) return false;
  for (let at = 0; at < names.length; at += 1) if (headers[at]?.[0] !== names[at]) return false;
  return true;
}

const nativeHeaders = new WeakMap<readonly Header[], NativeHeaders>();
const noHeaders: readonly Header[] = [];

function withHeaders(
  { status, sharedHeaders = noHeaders, headers }: HttpResponse,
  body: NativeBody,
  writesTexts: boolean,
): Response {
  if (!responseCopiesHeaders()) {
    const copy = append(append(new Headers(), sharedHeaders), headers);
    return create(status, copy, body, writesTexts && copy.has('content-type'));
  }
  let all = nativeHeaders.get(sharedHeaders);
  if (all === undefined) nativeHeaders.set(sharedHeaders, (all = new NativeHeaders(sharedHeaders)));
  const native = all.with(headers);
  return create(status, native, body, writesTexts && (all.hasType || native.has('content-type')));
}

/** @param writesTexts as for `createResponse`. Without a `Content-Type`, `Response` would add one for a string. */
function create(status: number, headers: Headers, body: NativeBody, writesTexts: boolean): Response {
  // Of a string, undici makes a response in 0.7 µs more.
  const sent = typeof body === 'string' && !writesTexts ? utf8Bytes(body) : body;
  // Cloudflare Workers would compress a body with Content-Encoding again. Other hosts ignore the member.
  const init = { status, headers, encodeBody: 'manual' };
  // The types exclude bytes in shared memory, which `isBody` does not.
  return new Response(sent as Exclude<typeof sent, Uint8Array> | Bytes, init);
}

let examined: typeof Response | undefined;
let copiesHeaders = false;

/** Whether `Response` copies its headers: @hono/node-server replaces the global one by one that keeps them. */
function responseCopiesHeaders(): boolean {
  if (examined !== Response) {
    examined = Response;
    const headers = new Headers();
    const response = new Response(null, { headers });
    headers.set('x-later', '');
    copiesHeaders = !response.headers.has('x-later');
  }
  return copiesHeaders;
}

function append(target: Headers, headers: readonly Header[]): Headers {
  for (const header of headers) target.append(header[0], writableValue(header));
  return target;
}

/** Returns the value of a header as `Headers` accepts it. @throws {TypeError} for an invalid header */
function writableValue(header: Header): string {
  if (!isWritableHeader(header)) throw new TypeError('A header cannot be written.');
  const value = header[1];
  return nonAscii.test(value) ? toUtf8Characters(value) : value;
}

const nonAscii = /[^\0-\x7f]/;

/** Returns the UTF-8 bytes of a text as characters: `Headers` accepts Latin-1 only, and writes a character as a byte. */
const toUtf8Characters = (text: string) => String.fromCharCode(...utf8Bytes(text));

/**
 * Converts a body to a `ReadableStream` that requests chunks as its reader does, and fails if the request aborts.
 * @param request kept alive: the signal of a collected `Request` no longer follows that of its creation (undici 6)
 */
function readableStream(request: FetchRequest, body: BodyStream): ReadableStream<Uint8Array> {
  let iterator: AsyncIterator<Uint8Array> | undefined;
  let onAbort = () => {};
  const stopListening = () => request.signal.removeEventListener('abort', onAbort);
  async function stop() {
    stopListening();
    await discardStream(body, iterator);
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const { signal } = request;
        onAbort = () => {
          controller.error(signal.reason);
          // The producer logs its errors.
          stop().catch(() => {});
        };
        if (signal.aborted) onAbort();
        else signal.addEventListener('abort', onAbort, { once: true });
      },
      async pull(controller) {
        iterator ??= body[Symbol.asyncIterator]();
        const { done, value } = await iterator.next();
        if (!done) return controller.enqueue(value);
        stopListening();
        controller.close();
      },
      cancel: stop,
    },
    // With the default, the stream would fill its queue before the first read.
    { highWaterMark: 0 },
  );
}
