// Hot path: called for every request.
import {
  hasNoBody,
  headersOf,
  isBody,
  type BodyStream,
  discardStream,
  type Header,
  type HttpResponse,
  isBodyStream,
  isWritableHeader,
  utf8Bytes,
} from '../../http/response.ts';
import { defaultBodyBytes, type Service } from '../../http/service.ts';
import { internalErrorResponse } from '../server/rejections.ts';
import { FetchRequest } from './request.ts';

/** Options of `gateway.fetch`. */
export interface FetchInit {
  readonly method?: string | undefined;
  readonly headers?: RequestInit['headers'] | undefined;
  readonly body?: RequestInit['body'] | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Must be `half` if the body is a stream. */
  readonly duplex?: 'half' | undefined;
  /**
   * IP address of the client, from the server that received the request. Without it, `rateLimit` and `failedAttempts`
   * treat all clients as one, and `X-Forwarded-For` is not read.
   */
  readonly remoteAddress?: string | undefined;
}

/**
 * Handles a `Request` in this process. You can pass it to a tRPC client as its `fetch`: with a URL it creates the
 * `Request` as the global `fetch` does, and it rejects when the signal of `init` aborts. Otherwise it rejects only if
 * the request cannot be created or read: its URL is not `http:` or `https:`, its body was already read, `remoteAddress`
 * is not a string, or a member of an object in place of a `Request` throws. All other errors are responses.
 */
export type Fetch = (input: Request | URL | string, init?: FetchInit) => Promise<Response>;

/** Creates the `fetch` of a service. */
export function createFetch({
  handle,
  maxBodyBytes = defaultBodyBytes,
  maxStreamBytes = maxBodyBytes,
}: Service): Fetch {
  async function respond(request: Request, remoteAddress: unknown = ''): Promise<Response> {
    if (typeof remoteAddress !== 'string') {
      throw new TypeError('remoteAddress must be a string: the IP address of the client.');
    }
    if (request.bodyUsed) {
      throw new TypeError(
        'The body of this Request was already read. Call fetch before you read it, or with a clone of the Request.',
      );
    }
    const received = new FetchRequest(request, maxBodyBytes, remoteAddress, maxStreamBytes);
    let response: HttpResponse | undefined;
    try {
      response = await handle(received);
      return createResponse(received, response);
    } catch {
      // The service threw, or ignored the types: the response is not an object, or its status, a header or the body is
      // invalid.
      const body = response?.body;
      if (isBodyStream(body)) void discardStream(body);
      return createResponse(received, internalErrorResponse);
    }
  }

  /** Handles a call in the style of the global `fetch`, with a URL or with an `init` that changes the request. */
  async function fetchWithInit(input: Request | URL | string, init: FetchInit): Promise<Response> {
    const request = new Request(input, init as RequestInit);
    if (!init.signal) return respond(request, init.remoteAddress);
    // Not `init.signal`: it may outlive thousands of requests, and would keep their listeners.
    const { signal } = request;
    signal.throwIfAborted();
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return Promise.race([respond(request, init.remoteAddress), aborted]);
  }

  return (input, init = {}) =>
    typeof input === 'object' && 'headers' in input && !changesRequest(init)
      ? respond(input, init.remoteAddress)
      : fetchWithInit(input, init);
}

/** Some servers pass a second argument that is not an `init`: Bun its server, Workers their bindings. */
const changesRequest = ({ method, headers, body, signal }: FetchInit) =>
  method !== undefined || headers !== undefined || body !== undefined || signal !== undefined;

/**
 * Converts a response to a WHATWG `Response`.
 * @throws {TypeError | RangeError} for an invalid response
 */
function createResponse(request: FetchRequest, response: HttpResponse): Response {
  const { status } = response;
  // `Response` would accept a string as the status, and any object as the body.
  if (!Number.isInteger(status) || !isBody(response.body)) throw new TypeError('The response is invalid.');
  const headers = headersOf(response).map(toHeaderEntry);
  // Converted to bytes: for a string, `Response` would add a missing Content-Type, and undici takes 0.7 µs more.
  const body = typeof response.body === 'string' ? utf8Bytes(response.body) : (response.body ?? null);
  // The constructor of `Response` rejects a body for these statuses, even an empty one (Fetch Standard §2.2.3).
  if (request.method === 'HEAD' || hasNoBody(status)) {
    if (isBodyStream(body)) void discardStream(body);
    else if (!hasNoBody(status)) headers.push(['content-length', String(body?.byteLength ?? 0)]);
    return new Response(null, { status, headers });
  }
  const init = isBodyStream(body) ? readableStream(request, body) : body;
  return new Response(init as ReadableStream | Uint8Array<ArrayBuffer> | null, { status, headers });
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
