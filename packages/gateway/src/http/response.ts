import phrases from 'statuses/codes.json' with { type: 'json' };
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

/** Returns the reason phrase of an HTTP status (RFC 9110 §15), such as `Not Found`. */
export const statusText = (status: number): string =>
  (phrases as Readonly<Record<number, string>>)[status] ?? 'Unknown';

/** Returns all headers of a response, the shared ones first. */
export const headersOf = ({ sharedHeaders = [], headers }: HttpResponse): readonly Header[] => [
  ...sharedHeaders,
  ...headers,
];

/** Whether a response of a status has neither a body nor a length (RFC 9110 §8.6, §15.3.5, §15.4.5). */
export const hasNoContent = (status: number): boolean => status === 204 || status === 304;

/** Whether a response of a status has no body (RFC 9110 §6.4.1). */
export const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304;

/** A token: the syntax of methods and header names (RFC 9110 §5.6.2). */
export const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Headers that frame the message. Only the adapter writes them. */
const framingHeader = /^(?:connection|content-length|trailer|transfer-encoding)$/i;

/** Cache of names that passed the checks. Limited in size, since a service may generate a new name per response. */
const writableNames = new Set<string>();

/**
 * Whether an adapter may write a header: both are strings, in case a service ignores the types, without CR and LF.
 * uWebSockets.js writes those unchanged: they would start another header or response (response splitting).
 */
export function isWritableHeader(header: Header): boolean {
  // Hot path: array destructuring would run an iterator.
  const name = header[0];
  const value = header[1];
  // A regular expression takes twice as long for a text that was just concatenated, eight times for one of 500 characters.
  if (typeof value !== 'string' || value.includes('\r') || value.includes('\n') || value.includes('\0'))
    return false;
  if (writableNames.has(name)) return true;
  if (typeof name !== 'string' || !tokenPattern.test(name) || framingHeader.test(name)) return false;
  if (writableNames.size < 256) writableNames.add(name);
  return true;
}

/**
 * A body that is produced while it is sent. The adapter requests the next chunk after the socket has taken the previous
 * one. When the client disconnects, the adapter calls the iterator's `return`, even while a `next` is pending.
 */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  /** Ends an unlimited body (events) after the current event. Adapters call it at shutdown, and wait for other bodies. */
  end?(): void;
  /**
   * Ends a body that is a call of its own, and so has no `end`, with an error for its client. Adapters call it at the
   * deadline of a shutdown, and then send what is left of the body.
   */
  expire?(): void;
}

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

export const isBodyStream = isAsyncIterable as (body: unknown) => body is BodyStream;

/** Ends a stream that will not be read further; its producer logs errors. `reader`: its iterator, if any. */
export async function discardStream(
  stream: AsyncIterable<unknown>,
  reader?: AsyncIterator<unknown> & Partial<AsyncDisposable>,
): Promise<void> {
  try {
    if (destroyNodeStream(stream)) return;
    if (reader === undefined && stream instanceof ReadableStream) return await stream.cancel();
    const iterator: NonNullable<typeof reader> = reader ?? stream[Symbol.asyncIterator]();
    await (iterator[Symbol.asyncDispose]?.() ?? iterator.return?.());
  } catch {
    // The producer logs it.
  }
}

/**
 * Destroys a stream of Node, which holds its file open: its iterator does not before the first `next` or during one.
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

/** Wraps a stream. `onEnd` is called once: with the error, if any, and whether the reader ended it. */
export function reportedStream(
  source: BodyStream,
  onEnd: (error?: unknown, isCut?: boolean) => void,
): BodyStream {
  return {
    [Symbol.asyncIterator]() {
      const iterator = source[Symbol.asyncIterator]();
      let end = (error?: unknown, isCut?: boolean) => {
        end = () => {};
        onEnd(error, isCut);
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
          end(undefined, true);
          await discardStream(source, iterator);
          return { done: true, value };
        },
      };
    },
    ...(source.end && { end: () => source.end?.() }),
    ...(source.expire && { expire: () => source.expire?.() }),
  };
}

/** Checks that `source`, such as `The route GET /healthz`, returned a response. @throws {TypeError} if not */
export function requireResponse(value: unknown, source: string): HttpResponse {
  const { status, headers, body } = isObject(value) ? value : {};
  const hasHeaders = isObject(headers) ? Symbol.iterator in headers : Array.isArray(headers);
  if (typeof status === 'number' && hasHeaders && isBody(body)) return value as HttpResponse;
  throw new TypeError(
    `${source} returned ${formatValue(value)}; it must return a response, such as { status: 200, headers: [['content-type', 'text/plain']], body: 'ok' }, whose body is a string, bytes or a stream.`,
  );
}

// Node's `Buffer` encodes a short text in a fifth of `TextEncoder`'s time, and counts its bytes in a twentieth.
const { Buffer } = globalThis as { readonly Buffer?: typeof globalThis.Buffer };
const textEncoder = new TextEncoder();

/** Encodes a text as UTF-8. The `buffer` of the result may be larger and contain other texts. */
export const utf8Bytes: (text: string) => Uint8Array<ArrayBuffer> = Buffer
  ? (text) => Buffer.from(text)
  : (text) => textEncoder.encode(text);

export const utf8Length: (text: string) => number = Buffer
  ? (text) => Buffer.byteLength(text)
  : (text) => textEncoder.encode(text).byteLength;

/** Whether a value can be a body, in case a service ignores the types. */
export const isBody = (body: unknown): boolean =>
  body === undefined ||
  body === null ||
  typeof body === 'string' ||
  body instanceof Uint8Array ||
  isAsyncIterable(body);

/**
 * Sets the status and the headers of a response. `createContext` receives one per request; the calls of a tRPC batch
 * share it, since they share the response. `trpc.responseMeta` takes precedence.
 */
export interface ResponseControls {
  /**
   * The status of a successful response. Over REST: one of those in the metadata's `successStatus`; if unset, the first of
   * them. Over tRPC: a 2xx with a body, for a single call; otherwise, and in a batch, it is
   * ignored.
   */
  status: number | undefined;
  /** The cursor of the next page, over REST; unset on the last page. Needs `pagination` in the metadata. */
  nextCursor: string | number | bigint | undefined;
  /** The headers that were set or appended, with lower-case names. */
  readonly headers: readonly Header[];
  /**
   * Sets a response header and removes earlier values of it. For tRPC's JSON lines and server-sent events, set headers
   * before the response starts. tRPC ignores `content-type`.
   * @throws {TypeError} for a name that is not an HTTP token, a value that is not a string or contains a line break or
   *   NUL, and for `Connection`, `Content-Length`, `Trailer` and `Transfer-Encoding`, which the
   *   server sets
   */
  header(name: string, value: string): void;
  /**
   * Adds a response header and keeps earlier values of it: for `Set-Cookie`, `Link`.
   * @throws {TypeError} in the same cases as `header`
   */
  append(name: string, value: string): void;
  /**
   * Sets `Idempotent-Replayed: true`: an earlier request with the same `Idempotency-Key` has had the effect of this
   * one. The result of a tool says so in its `_meta` too.
   */
  replayed(): void;
}

/**
 * A complete response, as policies may change it before it is written: a status from 200 to 599 (204, 205 and 304 remove
 * the body), the body, and headers, whose names are case-insensitive.
 */
export type PolicyResponse = Pick<
  OutgoingResponse,
  'append' | 'body' | 'delete' | 'get' | 'header' | 'status'
>;

/**
 * A response on its way out. Procedures set status and headers of the one that the request has (`ResponseControls`), the
 * protocol adds the body, policies change it (`PolicyResponse`), and the adapter writes it. An error is a new one, so
 * that what procedures set is dropped, also by a call that runs past its deadline.
 */
export class OutgoingResponse implements HttpResponse, ResponseControls {
  /** `undefined` until a procedure or the protocol sets it. Typed as a number, as the response that is written has it. */
  status: number;
  headers: Header[];
  sharedHeaders: readonly Header[];
  body: HttpResponse['body'];
  nextCursor: string | number | bigint | undefined = undefined;
  isReplayed = false;

  constructor(
    status: number = unset,
    headers: Header[] = [],
    body?: HttpResponse['body'],
    sharedHeaders: readonly Header[] = noHeaders,
  ) {
    this.status = status;
    this.headers = headers;
    this.sharedHeaders = sharedHeaders;
    this.body = body;
  }

  /** Copies a response that may be shared, such as a constant. */
  static of({ status, headers, body, sharedHeaders }: HttpResponse): OutgoingResponse {
    return new OutgoingResponse(status, [...headers], body, sharedHeaders);
  }

  /** Returns the value of the first header with a name. */
  get(name: string): string | undefined {
    const lower = name.toLowerCase();
    return headersOf(this).find(([other]) => other.toLowerCase() === lower)?.[1];
  }

  header(name: string, value: string): void {
    requireWritable(name, value);
    this.delete(name);
    this.headers.push([name.toLowerCase(), value]);
  }

  append(name: string, value: string): void {
    requireWritable(name, value);
    this.headers.push([name.toLowerCase(), value]);
  }

  delete(name: string): void {
    const lower = name.toLowerCase();
    if (hasName(this.headers, lower)) this.headers = withoutName(this.headers, lower);
    if (hasName(this.sharedHeaders, lower)) this.sharedHeaders = withoutName(this.sharedHeaders, lower);
  }

  replayed(): void {
    this.isReplayed = true;
    this.header('idempotent-replayed', 'true');
  }

  /** Removes the body. A stream is cancelled. */
  removeBody(): void {
    if (isBodyStream(this.body)) void discardStream(this.body);
    this.body = undefined;
  }

  /** Applies a policy's status: 204, 205 and 304 remove the body. @throws {RangeError} if not 200 to 599 */
  applyStatus(): void {
    const { status } = this;
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(`A policy set the status ${status}; it must be an integer from 200 to 599.`);
    }
    if (hasNoBody(status)) this.removeBody();
  }
}

/**
 * Creates response controls without a request, for the context of a call in process (`createCaller`).
 * @alias
 */
export const ResponseControls: new () => ResponseControls = OutgoingResponse;

/** @param lower a name in lower case */
const isNamed = (name: string, lower: string): boolean =>
  name.length === lower.length && name.toLowerCase() === lower;

// A loop, since the closure of `some` would be created for each header that a procedure sets.
function hasName(headers: readonly Header[], lower: string): boolean {
  for (const header of headers) if (isNamed(header[0], lower)) return true;
  return false;
}

const withoutName = (headers: readonly Header[], lower: string): Header[] =>
  headers.filter(([name]) => !isNamed(name, lower));

const unset = undefined as unknown as number;
const noHeaders: readonly Header[] = [];

function requireWritable(name: string, value: string): void {
  if (isWritableHeader([name, value])) return;
  throw new TypeError(
    `The response header ${JSON.stringify(name)} is not valid: its name must be a token, and its value must not contain CR, LF or NUL. Connection, Content-Length, Trailer and Transfer-Encoding are set by the server.`,
  );
}
