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
import type { FetchRequest } from './fetchRequest.ts';
import { internalErrorResponse } from './rejections.ts';

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
    const native = withHeaders(response, (headers) => new Response(null, { status, headers }));
    if (isBodyStream(body)) void discardStream(body);
    else if (!hasNoBody(status)) native.headers.append('content-length', String(bytesOf(body)?.length ?? 0));
    return native;
  }
  if (isBodyStream(body)) {
    const stream = readableStream(request, body);
    return withHeaders(response, (headers) => new Response(stream, { status, headers }));
  }
  return withHeaders(response, (headers) => {
    // For a string, `Response` would add a missing Content-Type, and undici takes 0.7 µs more.
    const isText = writesTexts && typeof body === 'string' && headers.has('content-type');
    return new Response(isText ? body : bytesOf(body), { status, headers });
  });
}

const bytesOf = (body: string | Uint8Array | undefined) =>
  (typeof body === 'string' ? utf8Bytes(body) : (body ?? null)) as Uint8Array<ArrayBuffer> | null;

/** Shared headers, which are validated and encoded once. */
const sharedHeadersCache = new WeakMap<readonly Header[], Headers>();
const noHeaders: readonly Header[] = [];

/**
 * Creates a `Response` with the headers of a response. All responses with the same shared headers use one `Headers`:
 * each adds its own headers, creates the `Response`, which copies them (Fetch Standard §5.5), and removes them again. A
 * `Headers` for each response would take a tenth of the time of a GET on Bun.
 * @param create must only create the `Response`
 */
function withHeaders(
  { sharedHeaders = noHeaders, headers }: HttpResponse,
  create: (headers: Headers) => Response,
): Response {
  let all = sharedHeadersCache.get(sharedHeaders);
  if (all === undefined) sharedHeadersCache.set(sharedHeaders, (all = append(new Headers(), sharedHeaders)));
  // If a name occurs in both, in a copy: `delete` would remove the shared header too.
  if (headers.some(([name]) => all.has(name))) return create(append(new Headers(all), headers));
  try {
    return create(append(all, headers));
  } finally {
    for (const [name] of headers) all.delete(name);
  }
}

function append(target: Headers, headers: readonly Header[]): Headers {
  for (const header of headers) {
    if (!isWritableHeader(header)) throw new TypeError('A header cannot be written.');
    const value = header[1];
    target.append(header[0], nonAscii.test(value) ? toUtf8Characters(value) : value);
  }
  return target;
}

const nonAscii = /[^\0-\x7f]/;

/**
 * Returns the UTF-8 bytes of a text as characters: `Headers` accepts Latin-1 only, and writes each character as a byte.
 */
const toUtf8Characters = (text: string) => String.fromCharCode(...utf8Bytes(text));

/**
 * Converts a body to a `ReadableStream`, which requests a chunk only when its reader does. If the request aborts, the
 * stream fails.
 * @param request referenced by the stream on purpose: if the `Request` is garbage-collected, its signal no longer
 * follows the signal that it was created with (undici 6)
 */
function readableStream(request: FetchRequest, body: BodyStream): ReadableStream<Uint8Array> {
  let iterator: AsyncIterator<Uint8Array> | undefined;
  let onAbort = () => {};
  const stopListening = () => request.signal.removeEventListener('abort', onAbort);
  async function stop() {
    stopListening();
    if (iterator) await iterator.return?.();
    else await discardStream(body);
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
