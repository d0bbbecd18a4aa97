// Hot path: called for every response.
import { isWritableHeader } from '../../http/headers.ts';
import {
  discardStream,
  isBodyStream,
  type BodyStream,
  type Header,
  type HttpResponse,
} from '../../http/response.ts';
import { utf8Bytes, utf8Length } from '../../http/utf8.ts';
import { internalErrorResponse } from '../server/rejections.ts';
import type { FetchRequest } from './request.ts';

/** Whether a status allows no body: the constructor of `Response` rejects one (Fetch Standard §2.2.3). */
const hasNoBody = (status: number) => status === 204 || status === 205 || status === 304;

/** Converts a response to a WHATWG `Response`: to a 500 if the response is invalid. */
export function toResponse(request: FetchRequest, response: HttpResponse): Response {
  try {
    return createResponse(request, response);
  } catch {
    // The service ignored the types: the response is not an object, or its status, a header or the body is invalid.
    const body = (response as HttpResponse | undefined)?.body;
    if (isBodyStream(body)) void discardStream(body);
    return createResponse(request, internalErrorResponse);
  }
}

/** @throws {TypeError | RangeError} for an invalid response */
function createResponse(request: FetchRequest, response: HttpResponse): Response {
  const { status, body } = response;
  // `Response` would accept a string.
  if (!Number.isInteger(status)) throw new RangeError('The status is not an integer.');
  const headers = headersInit(response);
  const isHead = request.method === 'HEAD';
  if (isHead || hasNoBody(status)) {
    if (isBodyStream(body)) void discardStream(body);
    else if (isHead && !hasNoBody(status)) headers.push(['content-length', String(bodyLength(body))]);
    return new Response(null, { status, headers });
  }
  return new Response(bodyInit(request, body), { status, headers });
}

function headersInit({ headers, sharedHeaders = [] }: HttpResponse): [name: string, value: string][] {
  const list: [string, string][] = [];
  for (const header of sharedHeaders) list.push(toHeaderEntry(header));
  for (const header of headers) list.push(toHeaderEntry(header));
  return list;
}

function toHeaderEntry(header: Header): [name: string, value: string] {
  if (!isWritableHeader(header)) throw new TypeError('A header cannot be written.');
  const [name, value] = header;
  return [name, nonAscii.test(value) ? toUtf8Characters(value) : value];
}

const nonAscii = /[^\0-\x7f]/;

/**
 * Returns the UTF-8 bytes of a text as characters: `Headers` accepts Latin-1 only, and writes each character as a byte.
 */
const toUtf8Characters = (text: string) => String.fromCharCode(...utf8Bytes(text));

function bodyInit(
  request: FetchRequest,
  body: HttpResponse['body'],
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
  if (body === undefined) return null;
  // Converted to bytes: for a string, `Response` would add a missing Content-Type, and undici takes 0.7 µs more.
  if (typeof body === 'string') return utf8Bytes(body);
  if (ArrayBuffer.isView(body)) return body as Uint8Array<ArrayBuffer>;
  if (isBodyStream(body)) return readableStream(request, body);
  throw new TypeError('The body is neither text nor bytes nor a stream.');
}

/**
 * Converts a body to a `ReadableStream`, which requests a chunk only when its reader does. If the request aborts, the
 * stream fails.
 * @param request referenced by the stream on purpose: if the `Request` is garbage-collected, its signal no longer
 * follows the signal that it was created with (undici 6)
 */
function readableStream(request: FetchRequest, body: BodyStream): ReadableStream<Uint8Array> {
  let iterator: AsyncIterator<Uint8Array> | undefined;
  let onAbort: (() => void) | undefined;
  function stopListening() {
    if (onAbort) request.signal.removeEventListener('abort', onAbort);
  }
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
        try {
          const { done, value } = await iterator.next();
          if (!done) return controller.enqueue(value);
          stopListening();
          controller.close();
        } catch (cause) {
          stopListening();
          throw cause;
        }
      },
      cancel: stop,
    },
    // With the default, the stream would fill its queue before the first read.
    { highWaterMark: 0 },
  );
}

const bodyLength = (body: string | Uint8Array | undefined): number =>
  typeof body === 'string' ? utf8Length(body) : (body?.byteLength ?? 0);
