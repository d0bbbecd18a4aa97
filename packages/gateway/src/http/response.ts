import { isAsyncIterable } from './isAsyncIterable.ts';

export type Header = readonly [name: string, value: string];

/** One HTTP response. The adapter adds `Content-Length` and omits the body for HEAD. */
export interface HttpResponse {
  /** 200 to 999. The adapter sends 500 instead of a response that cannot be written. */
  readonly status: number;
  /** Names in any case; values without CR, LF or NUL; none of the headers that frame the message. */
  readonly headers: readonly Header[];
  /** More headers, in an array that many responses share and that never changes: adapters may cache it in encoded form. */
  readonly sharedHeaders?: readonly Header[];
  readonly body?: string | Uint8Array | BodyStream | undefined;
}

/** All headers of a response, the shared ones first. */
export const headersOf = ({ sharedHeaders = [], headers }: HttpResponse): readonly Header[] => [
  ...sharedHeaders,
  ...headers,
];

/**
 * A body that is produced while it is sent: the adapter requests the next chunk when the socket has taken the previous
 * one. When the client disconnects, the adapter calls the iterator's `return`, even while a `next` is pending.
 */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  /** Ends an unlimited body (events) after the current event. Adapters call it when they stop; other bodies are awaited. */
  end?(): void;
}

export const isBodyStream = (body: unknown): body is BodyStream => isAsyncIterable(body);

/** Ends a stream of which nothing will be read. Its errors are its producer's to log. */
export async function discardStream(body: BodyStream): Promise<void> {
  try {
    await body[Symbol.asyncIterator]().return?.();
  } catch {
    // Logged by the producer.
  }
}
