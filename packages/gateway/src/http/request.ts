/** One HTTP request, as an adapter passes it to a service. */
export interface HttpRequest {
  /** As received: methods are case-sensitive (RFC 9110 §9.1). */
  readonly method: string;
  /** The target's path as received: not decoded, without the query. */
  readonly path: string;
  /** The target's query as received, without `?`; `''` where there is none. */
  readonly query: string;
  /**
   * A header's value, or `undefined` where the request does not have it or it is empty.
   * @param name in lower case
   */
  header(name: string): string | undefined;
  /** Every header with its name in lower case, in the order received. It is a copy: read by name where you can. */
  headers(): Iterable<readonly [name: string, value: string]>;
  /** Whether any header passes a test. Headers of the same name are tested one by one. Makes no copy. */
  someHeader?(test: (name: string, value: string) => boolean): boolean;
  /** Whether the connection is encrypted; `undefined` from an adapter that does not know. */
  readonly scheme?: 'http' | 'https';
  /** The version of HTTP, such as `1.1`; `undefined` from an adapter that does not know. */
  readonly httpVersion?: string;
  /** The client's address as text; `''` once the response has ended. */
  remoteAddress(): string;
  /**
   * Reads the whole body; an empty one where the request has none. Call it once.
   * @param maxBytes the largest body to accept, in bytes
   * @throws {BodyTooLargeError} as soon as the body is known to be larger; the rest is not kept
   * @throws the signal's reason when the client disconnects first
   */
  body(maxBytes: number): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * The whole body, if all of it has arrived and nothing has read it. `undefined` otherwise, and where it is larger than
   * `maxBytes`: then call `body`. Its `buffer` may be larger and hold other requests' bytes, as that of a `Buffer`: copy
   * what you give to others.
   */
  bodyNow?(maxBytes: number): Uint8Array<ArrayBuffer> | undefined;
  /**
   * The body in chunks, as they arrive, with backpressure to the client. Call this or `body`, once.
   * @param maxBytes and the errors: as for `body`
   */
  bodyChunks(maxBytes: number): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Whether the client has disconnected. Cheaper than `signal`. */
  readonly isAborted: boolean;
  /** How many bytes of the body have arrived; `undefined` from an adapter that does not count them. */
  readonly receivedBytes?: number | undefined;
  /** Aborts when the client disconnects. Created on first read. */
  readonly signal: AbortSignal;
  /** Calls a listener when the client disconnects from now on: a fifth of the cost of listening to `signal`. */
  whenAborted?(listener: (reason: unknown) => void): void;
}

/** Whether any header of a request passes a test. */
export function someHeader(request: HttpRequest, test: (name: string, value: string) => boolean): boolean {
  if (request.someHeader) return request.someHeader(test);
  for (const [name, value] of request.headers()) if (test(name, value)) return true;
  return false;
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
