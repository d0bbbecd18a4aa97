// Hot path: one object per response.
import {
  discardStream,
  hasNoBody,
  type Header,
  headersOf,
  type HttpResponse,
  isBodyStream,
  isWritableHeader,
} from './response.ts';

/**
 * Sets the status and the headers of a response. `createContext` receives one per request; the calls of a tRPC batch
 * share it, since they share the response. `trpc.responseMeta` takes precedence.
 */
export interface ResponseControls {
  /**
   * The status of a successful response. Over REST: one of those in the metadata's `successStatus` or `responses`; if
   * unset, the default among them. Over tRPC: a 2xx with a body, for a single call; otherwise, and in a batch, it is
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
   * one.
   */
  replayed(): void;
  /**
   * Redirects the client to a location.
   * @param status one of the metadata's `successStatus`. Default: the first of them.
   */
  redirect(location: string, status?: number): void;
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

  /** Removes all headers with this name. */
  delete(name: string): void {
    const lower = name.toLowerCase();
    const isKept = ([other]: Header) => other.length !== lower.length || other.toLowerCase() !== lower;
    if (this.headers.length > 0) this.headers = this.headers.filter(isKept);
    if (!this.sharedHeaders.every(isKept)) this.sharedHeaders = this.sharedHeaders.filter(isKept);
  }

  replayed(): void {
    this.header('idempotent-replayed', 'true');
  }

  redirect(location: string, status?: number): void {
    this.header('location', location);
    this.status = status ?? unset;
  }

  /** Removes the body. A stream is cancelled. */
  removeBody(): void {
    if (isBodyStream(this.body)) void discardStream(this.body);
    this.body = undefined;
  }

  /**
   * Applies a status that a policy has set: 204, 205 and 304 remove the body.
   * @throws {RangeError} if it is not an integer from 200 to 599
   */
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

const unset = undefined as unknown as number;
const noHeaders: readonly Header[] = [];

function requireWritable(name: string, value: string): void {
  if (isWritableHeader([name, value])) return;
  throw new TypeError(
    `The response header ${JSON.stringify(name)} is not valid: its name must be a token, and its value must not contain CR, LF or NUL. Connection, Content-Length, Trailer and Transfer-Encoding are set by the server.`,
  );
}
