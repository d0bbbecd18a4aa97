import { formatValue } from './formatValue.ts';
import { isObject } from './isObject.ts';

export type Header = readonly [name: string, value: string];

/** An HTTP response. The adapter adds `Content-Length` and omits the body for HEAD. */
export interface HttpResponse {
  /** Status, 200 to 999. If a response is invalid, the adapter sends 500 instead. */
  readonly status: number;
  /**
   * Names in any case; values without CR, LF or NUL. The adapter sets `Connection`, `Content-Length`, `Trailer` and
   * `Transfer-Encoding`: they must not be here.
   */
  readonly headers: readonly Header[];
  /** Further headers, in an immutable array that many responses share. Adapters may cache it in encoded form. */
  readonly sharedHeaders?: readonly Header[];
  readonly body?: string | Uint8Array | BodyStream | undefined;
}

/** Returns all headers of a response, the shared ones first. */
export const headersOf = ({ sharedHeaders = [], headers }: HttpResponse): readonly Header[] => [
  ...sharedHeaders,
  ...headers,
];

/** Whether a response of a status has neither a body nor a length (RFC 9110 §8.6, §15.3.5, §15.4.5). */
export const hasNoContent = (status: number): boolean => status === 204 || status === 304;

/** Whether a response of a status has no body (RFC 9110 §6.4.1). */
export const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304;

/**
 * A body that is produced while it is sent. The adapter requests the next chunk after the socket has taken the previous
 * one. When the client disconnects, the adapter calls the iterator's `return`, even while a `next` is pending.
 */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  /**
   * Ends an unlimited body (events) after the current event. Adapters call it at shutdown, and wait for bodies without
   * it.
   */
  end?(): void;
}

/** Whether a value is an async iterable, such as an async generator or a stream. */
export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

export const isBodyStream = (body: unknown): body is BodyStream => isAsyncIterable(body);

/** Ends a stream that will not be read. Errors are ignored here: the producer logs them. */
export async function discardStream(stream: AsyncIterable<unknown>): Promise<void> {
  try {
    if (destroyNodeStream(stream)) return;
    if (stream instanceof ReadableStream) await stream.cancel();
    else await stream[Symbol.asyncIterator]().return?.();
  } catch {
    // The producer logs it.
  }
}

/**
 * Destroys a stream of Node, which holds its file open until then: its iterator does not do that before the first
 * `next`.
 * @returns whether it is a stream of Node
 */
export function destroyNodeStream(stream: object): boolean {
  const { destroy, on } = stream as { readonly destroy?: unknown; readonly on?: unknown };
  if (typeof destroy !== 'function' || typeof on !== 'function') return false;
  // Without a listener, the error of a file that cannot be opened would end the process.
  on.call(stream, 'error', () => {});
  destroy.call(stream);
  return true;
}

/**
 * Wraps a stream to report its end.
 * @param onEnd called once when the iteration ends, with the error if it failed
 */
export function reportedStream(source: BodyStream, onEnd: (error?: unknown) => void): BodyStream {
  return {
    [Symbol.asyncIterator]() {
      const iterator: AsyncIterator<Uint8Array> & Partial<AsyncDisposable> = source[Symbol.asyncIterator]();
      let end = (error?: unknown) => {
        end = () => {};
        onEnd(error);
      };
      return {
        async next() {
          try {
            const result = await iterator.next();
            if (result.done) end();
            return result;
          } catch (error) {
            end(error);
            throw error;
          }
        },
        async return(value) {
          // Reported before the source returns: a source with a pending `next` may never return.
          end();
          await (iterator[Symbol.asyncDispose]?.() ?? iterator.return?.());
          return { done: true, value };
        },
      };
    },
    ...(source.end && { end: () => source.end?.() }),
  };
}

/**
 * Checks that a value returned by user code is a response.
 * @param source names the code in the message, such as `The route GET /healthz`
 * @throws {TypeError} if it is not a response
 */
export function requireResponse(value: unknown, source: string): HttpResponse {
  if (!isObject(value) || typeof value['status'] !== 'number' || !isIterable(value['headers'])) {
    throw new TypeError(
      `${source} returned ${formatValue(value)}; it must return a response, such as { status: 200, headers: [['content-type', 'text/plain']], body: 'ok' }.`,
    );
  }
  if (!isBody(value['body'])) {
    throw new TypeError(
      `${source} returned a body that is ${formatValue(value['body'])}; it must be a string, bytes or a stream, such as JSON.stringify(…).`,
    );
  }
  return value as unknown as HttpResponse;
}

const isIterable = (value: unknown) =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;

/** Whether a value can be a body, in case a service ignores the types. */
export const isBody = (body: unknown): boolean =>
  body === undefined ||
  body === null ||
  typeof body === 'string' ||
  body instanceof Uint8Array ||
  isAsyncIterable(body);
