/** Bytes in an `ArrayBuffer` that is not shared with other threads. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** An HTTP request, as an adapter passes it to a service. */
export interface HttpRequest {
  /** The method as received: methods are case-sensitive (RFC 9110 §9.1). */
  readonly method: string;
  /** The path as received: not decoded, without the query. */
  readonly path: string;
  /** The query as received, without `?`; `''` if there is none. */
  readonly query: string;
  /**
   * Returns the value of a header, or `undefined` if the header is missing or empty.
   * @param name in lower case
   */
  header(name: string): string | undefined;
  /**
   * Returns a copy of all headers in the order received, with names in lower case. `new Headers([...request.headers()])`
   * joins those of a name. Reading by name with `header` is cheaper.
   */
  headers(): Iterable<[name: string, value: string]>;
  /**
   * Whether the request was received with a header, even an empty one.
   * @param name in lower case
   */
  hasHeader(name: string): boolean;
  /**
   * Whether a header, by its name in lower case, occurs more than once: a credential in such a header is rejected. An
   * adapter that joins these headers does not have it.
   */
  isRepeated?(name: string): boolean;
  /** Whether the connection is encrypted; `undefined` from an adapter that does not know. */
  readonly scheme?: 'http' | 'https';
  /** The version of HTTP, such as `1.1`; `undefined` from an adapter that does not know. */
  readonly httpVersion?: string;
  /** Returns the IP address of the connection as text, behind a proxy the proxy's; `''` after the response has ended. */
  remoteAddress(): string;
  /**
   * Reads the whole body; empty if the request has none. Call it once.
   * @param maxBytes the maximum size in bytes
   * @throws {BodyTooLargeError} as soon as the body is known to be larger; the rest is dropped
   * @throws the reason of `signal` if the client disconnects first
   */
  body(maxBytes: number): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Returns the whole body if it has arrived completely and was not read. Returns `undefined` otherwise, and if the
   * body is larger than `maxBytes`: then call `body`. Copy the bytes before you pass them to user code: their `buffer`
   * may be larger and contain bytes of other requests, as that of a Node `Buffer`.
   */
  bodyNow?(maxBytes: number): Uint8Array<ArrayBuffer> | undefined;
  /**
   * Returns the body in chunks as they arrive, with backpressure to the client. Call either this or `body`, once.
   * `maxBytes` and the errors are those of `body`.
   */
  bodyChunks(maxBytes: number): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Whether the client has disconnected. Cheaper than `signal.aborted`. */
  readonly isAborted: boolean;
  /** Number of bytes of the body that have arrived; `undefined` from an adapter that does not count them. */
  readonly receivedBytes?: number | undefined;
  /** Aborts when the client disconnects. Created at the first access. */
  readonly signal: AbortSignal;
  /** Calls a listener when the client disconnects, for a fifth of the cost of a listener on `signal`. */
  whenAborted?(listener: (reason: unknown) => void): void;
}

/** Whether the body of a request has an encoding, also one that an adapter with separate headers has not read first. */
export const hasContentEncoding = (request: HttpRequest): boolean =>
  (request.header('content-encoding') ?? 'identity').toLowerCase() !== 'identity' ||
  request.isRepeated?.('content-encoding') === true;

/** Returns the bytes of chunks, without a copy if there is only one. */
export function joinBytes(chunks: readonly Bytes[]): Bytes {
  const [first] = chunks;
  if (first && chunks.length === 1) return first;
  const bytes = new Uint8Array(chunks.reduce((size, { byteLength }) => size + byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** Returns a body as a stream, read as its consumer reads. `toError` converts a failure to read it. */
export function byteStream(
  request: HttpRequest,
  maxBytes: number,
  toError: (cause: unknown) => unknown,
): ReadableStream<Bytes> {
  let chunks: AsyncIterator<Bytes> | undefined;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          chunks ??= request.bodyChunks(maxBytes)[Symbol.asyncIterator]();
          const chunk = await chunks.next();
          if (chunk.done) controller.close();
          else controller.enqueue(chunk.value);
        } catch (cause) {
          throw toError(cause);
        }
      },
      async cancel() {
        await chunks?.return?.();
      },
    },
    // With the default, the stream would fill its buffer before the first read.
    { highWaterMark: 0 },
  );
}

/** Thrown by `HttpRequest.body` when the body is larger than allowed. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`);
    this.maxBytes = maxBytes;
  }
}
