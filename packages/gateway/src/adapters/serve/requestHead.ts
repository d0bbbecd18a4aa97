// Hot path: one `RequestHead` for all requests, one `ReceivedHead` for each.
import { tokenPattern } from '../../http/response.ts';
import type { HttpRejection } from '../../http/service.ts';
import { badRequest, headersTooLarge, httpRejection, targetTooLong } from './rejections.ts';

export const headRejections = {
  method: badRequest('The method must be a token of at most 64 bytes (RFC 9110 §9.1).'),
  target: badRequest(
    'The request target contains a byte that a URI cannot contain. Percent-encode it (RFC 3986 §2), and leave out the fragment.',
  ),
  host: badRequest(
    'The request must have exactly one Host header, with a host and an optional port (RFC 9112 §3.2).',
  ),
  framing: badRequest(
    'The request must have either one Content-Length, of 1 to 15 digits, or one Transfer-Encoding, which is chunked, or neither (RFC 9112 §6).',
  ),
  controlCharacter: badRequest('A header value contains a control character (RFC 9110 §5.5).'),
  unmetExpectation: httpRejection(
    417,
    'EXPECTATION_FAILED',
    'The only supported value of Expect is 100-continue.',
  ),
};

/** Bytes that a target must not contain. Parsers reject control characters and blanks, but not DEL and non-ASCII bytes. */
const invalidInTarget = /[^!-~]|#/;
/** `uri-host [ ":" port ]` (RFC 9110 §7.2), not empty. Without the comma, by which parsers join several headers. */
const authority = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[0-9A-Za-z._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/;
const lengthPattern = /^[0-9]{1,15}$/;
const chunkedCoding = /^chunked$/i;

/** The last valid `Host`, as a cache: nearly all requests have the same. Never empty, since an empty one is invalid. */
let validHost = 'localhost';

export function isValidHost(host: string): boolean {
  if (host === validHost) return true;
  if (!authority.test(host)) return false;
  validHost = host;
  return true;
}

/** Characters other than tab and printable ASCII. */
export const nonPrintable = /[^\t -~]/;
// oxlint-disable-next-line no-control-regex -- these bytes must not occur in a value
export const controlCharacter = /[\0-\x08\x0a-\x1f\x7f]/;
/** The option of `Connection` that makes a request the last of its connection (RFC 9112 §9.6). */
export const closeOption = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
/** The option of `Connection` that belongs to `Upgrade` (RFC 9110 §7.8). */
export const upgradeOption = /(?:^|,)[\t ]*upgrade[\t ]*(?:,|$)/i;

/**
 * The head of the request that is being read. Each adapter reuses one object: copy the headers to keep them. All are
 * read once: reading by name cannot distinguish an empty header from a missing one, and may return only the first of
 * several, which allows request smuggling.
 */
export class RequestHead {
  /** The first `count` names belong to this request, the rest to earlier ones. */
  readonly names: string[] = [];
  readonly values: string[] = [];
  count = 0;
  /** Total length of the header lines with their separators, in bytes. */
  headerBytes = 0;
  /** The valid `Host`; `''` without one. */
  host = '';
  /** Length of the body in bytes: NaN for a chunked body, `undefined` without a header that frames a body. */
  bodyLength: number | undefined;
  awaitsContinue = false;
  /** Whether `Connection` has another value than `keep-alive`. */
  hasConnectionOption = false;
  /** Whether the request has `Connection: close`, so that it is the last of its connection (RFC 9112 §9.6). */
  isLast = false;
  /** Whether the client requests an upgrade to another protocol (RFC 9110 §7.8). */
  isUpgrade = false;
  /** Whether `Host` is optional, as in HTTP/1.0. */
  isHostOptional = false;
  /** Rejection of a header or by the adapter itself. */
  ownRejection: HttpRejection | undefined;
  #hasNonPrintable = false;

  /** Resets the object. Call it before the headers of the next request are added. */
  clear(): void {
    if (this.#hasNonPrintable) this.values.length = 0;
    this.#hasNonPrintable = false;
    this.count = 0;
    this.headerBytes = 0;
    this.host = '';
    this.bodyLength = undefined;
    this.awaitsContinue = false;
    this.hasConnectionOption = false;
    this.isLast = false;
    this.isUpgrade = false;
    this.ownRejection = undefined;
  }

  /** Returns why the request is malformed, or `undefined` if it is valid. */
  rejection(method: string, path: string, query: string, maxBytes: number): HttpRejection | undefined {
    // RFC 9112 §3 suggests 501 for a method that is too long. 400 is not counted as an error of the server.
    if (method !== 'GET' && (method.length > 64 || !tokenPattern.test(method))) return headRejections.method;
    if (path.length + (query === '' ? 0 : query.length + 1) > maxBytes) {
      return targetTooLong(maxBytes);
    }
    if (invalidInTarget.test(path) || (query !== '' && invalidInTarget.test(query)))
      return headRejections.target;
    if (this.headerBytes > maxBytes) {
      return headersTooLarge(`The request headers are larger than ${maxBytes} bytes in total.`);
    }
    if (this.host === '' && !this.isHostOptional) return headRejections.host;
    return this.ownRejection;
  }

  /** Adds a header. `name` must be in lower case. */
  readonly add = (name: string, receivedValue: string): void => {
    const at = this.count;
    this.count = at + 1;
    // Unchanged values were checked before, unless non-printable. Saves 0.15 µs per request with five headers.
    if (this.names[at] !== name) this.names[at] = name;
    if (this.values[at] !== receivedValue) {
      this.values[at] = nonPrintable.test(receivedValue) ? this.#decode(name, receivedValue) : receivedValue;
    }
    // From the array: an unchanged value is the old string. A new one in an old object costs a write barrier.
    const value = this.values[at] ?? '';
    this.headerBytes += name.length + receivedValue.length + 4;
    // By length first: comparing a string from the parser with each name would take longer.
    switch (name.length) {
      case 4:
        if (name === 'host') {
          // The first comparison of `isValidHost` is here too: every request runs it.
          if (this.host === '' && (value === validHost || isValidHost(value))) this.host = value;
          else this.ownRejection = headRejections.host;
        }
        break;
      case 6:
        if (name === 'expect') {
          if (receivedValue.toLowerCase() === '100-continue') this.awaitsContinue = true;
          else this.ownRejection ??= headRejections.unmetExpectation;
        }
        break;
      case 10:
        if (name === 'connection' && receivedValue !== 'keep-alive') {
          this.hasConnectionOption = true;
          if (closeOption.test(receivedValue)) this.isLast = true;
          if (upgradeOption.test(receivedValue)) this.isUpgrade = true;
        }
        break;
      case 14:
        if (name === 'content-length') this.#frame(Number(value), lengthPattern.test(value));
        break;
      case 17:
        if (name === 'transfer-encoding') this.#frame(Number.NaN, chunkedCoding.test(value));
        break;
    }
  };

  #frame(bodyLength: number, isValid: boolean): void {
    if (this.bodyLength !== undefined || !isValid) this.ownRejection = headRejections.framing;
    this.bodyLength = bodyLength;
  }

  #decode(name: string, value: string): string {
    this.#hasNonPrintable = true;
    if (controlCharacter.test(value)) this.ownRejection = headRejections.controlCharacter;
    return this.latin1(name, value);
  }

  /** Decodes a value with non-printable or non-ASCII characters as Latin-1. */
  protected latin1(_name: string, value: string): string {
    return value;
  }
}

/** Limits of requests, in bytes. */
export interface RequestLimits {
  readonly maxHeaderSize: number;
  readonly maxBodySize: number;
  readonly maxStreamSize: number;
  /** Whether the server uses TLS, for adapters whose requests do not know it. */
  readonly isTls?: boolean;
}

/** Maximum size of a body that is received before the request is handled. */
const smallBodyBytes = 16_384;

const noStrings: readonly string[] = [];

/**
 * The request line and the headers of a request. The headers are in an object that all requests of the adapter share: call
 * `keepHead` before the next request is read, or `dropHead`.
 */
export abstract class ReceivedHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Why the request is malformed; `undefined` if it is valid. */
  readonly rejection: HttpRejection | undefined;
  /** Length of the body in bytes: 0 without a body and if the request is malformed, NaN for a chunked body. */
  readonly bodyLength: number;
  /**
   * Whether it is a valid WebSocket upgrade (RFC 6455 §4.2.1). uWS checks only the key: with `Connection: close`, it
   * would open and close the socket at once, and throw; a body would be parsed as frames (uWebSockets.js 20).
   */
  readonly isUpgrade: boolean;
  /** Whether no other request may follow: the client requests it, or the end of this request is uncertain. */
  abstract readonly isLast: boolean;
  /** Whether the client requests it, and the response may be written in the parser's own tick regardless. */
  closesAtOnce = false;

  protected readonly limits: RequestLimits;
  #names: readonly string[];
  #values: readonly string[];
  #count: number;
  readonly #hasExpectation: boolean;

  /** @param head contains the headers of this request */
  // Five parameters: the first three as an object would be another object per request.
  constructor(method: string, path: string, query: string, head: RequestHead, limits: RequestLimits) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.limits = limits;
    this.#names = head.names;
    this.#values = head.values;
    this.#count = head.count;
    this.#hasExpectation = head.awaitsContinue;
    this.rejection = head.rejection(method, path, query, limits.maxHeaderSize);
    this.bodyLength = this.rejection === undefined ? (head.bodyLength ?? 0) : 0;
    this.isUpgrade =
      head.isUpgrade &&
      method === 'GET' &&
      this.rejection === undefined &&
      !head.isHostOptional &&
      !head.isLast &&
      this.bodyLength === 0 &&
      this.#values[this.#names.slice(0, this.#count).indexOf('upgrade')]?.toLowerCase() === 'websocket';
  }

  get scheme(): 'http' | 'https' {
    return this.limits.isTls === true ? 'https' : 'http';
  }

  get httpVersion(): string {
    return '1.1';
  }

  header(name: string): string | undefined {
    // An empty header counts as missing.
    for (let at = 0; at < this.#count; at += 1)
      if (this.#names[at] === name) return this.#values[at] || undefined;
    return undefined;
  }

  hasHeader(name: string): boolean {
    for (let at = 0; at < this.#count; at += 1) if (this.#names[at] === name) return true;
    return false;
  }

  isRepeated(name: string): boolean {
    let count = 0;
    for (let at = 0; at < this.#count; at += 1) if (this.#names[at] === name) count += 1;
    return count > 1;
  }

  headers(): Iterable<[name: string, value: string]> {
    return this.#names.slice(0, this.#count).map((name, at) => [name, this.#values[at] ?? '']);
  }

  /**
   * Whether the body is received before the request is handled: it is small, and most arrive in the same packet. A handler
   * that does not need to wait takes a third less time.
   */
  get hasSmallBody(): boolean {
    if (this.bodyLength === 0 || (this.isLast && !this.closesAtOnce)) return false;
    // Written so that NaN, an unknown length, returns false.
    if (!(this.bodyLength <= Math.min(smallBodyBytes, this.limits.maxBodySize))) return false;
    // With `Expect`, the client waits for a response before it sends the body (RFC 9110 §10.1.1).
    return !this.#hasExpectation;
  }

  /** Copies the headers, so that they outlive the handler. */
  protected keepHead(): void {
    this.#names = this.#names.slice(0, this.#count);
    this.#values = this.#values.slice(0, this.#count);
  }

  protected dropHead(): void {
    this.#names = noStrings;
    this.#values = noStrings;
    this.#count = 0;
  }
}
