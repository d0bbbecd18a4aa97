import { isAsyncIterable } from './isAsyncIterable.ts';

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
