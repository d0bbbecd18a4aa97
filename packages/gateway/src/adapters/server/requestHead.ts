// Hot path: called for every request. The optimisations are measured by ../uws/testing/headCost.ts.
import { tokenPattern } from '../../http/headers.ts';
import type { HttpRejection } from '../../http/service.ts';

/** Limits of requests, in bytes. */
export interface RequestLimits {
  readonly maxHeaderBytes: number;
  /** Maximum size of a body that is read into memory. */
  readonly maxBodyBytes: number;
  /** Maximum size of a body that is read in chunks. */
  readonly maxStreamBytes: number;
  /** Whether the server uses TLS, for adapters whose requests do not know it. */
  readonly isTls?: boolean;
}

function createRejection(status: number, code: string, message: string): HttpRejection {
  return { status, code, message };
}
const badRequest = (message: string) => createRejection(400, 'BAD_REQUEST', message);

const headRejections = {
  method: badRequest('The method must be a token of at most 64 bytes (RFC 9110 §9.1).'),
  target: badRequest(
    'The request target contains a byte that a URI cannot contain. Percent-encode it (RFC 3986 §2), and leave out the fragment.',
  ),
  host: badRequest(
    'The request must have exactly one Host header, with a host and an optional port (RFC 9112 §3.2).',
  ),
  transferEncoding: badRequest('Transfer-Encoding must be sent at most once, as chunked (RFC 9112 §6.1).'),
  both: badRequest('The request must not have both Content-Length and Transfer-Encoding (RFC 9112 §6.1).'),
  contentLength: badRequest('Content-Length must be sent at most once, as 1 to 15 digits (RFC 9110 §8.6).'),
  controlCharacter: badRequest('A header value contains a control character (RFC 9110 §5.5).'),
  unmetExpectation: createRejection(
    417,
    'EXPECTATION_FAILED',
    'The only supported value of Expect is 100-continue.',
  ),
  urlBytes: (max: number) =>
    createRejection(414, 'URI_TOO_LONG', `The request target is longer than ${max} bytes.`),
  headerBytes: (max: number) =>
    createRejection(
      431,
      'REQUEST_HEADER_FIELDS_TOO_LARGE',
      `The request headers are larger than ${max} bytes in total.`,
    ),
};

/**
 * Bytes that a target must not contain. The parsers reject control characters and blanks, but not DEL and non-ASCII
 * bytes.
 */
const invalidInTarget = /[^!-~]|#/;
/** `uri-host [ ":" port ]` (RFC 9110 §7.2), not empty. Without the comma, by which parsers join several headers. */
const authority = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[0-9A-Za-z._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/;
const contentLengthPattern = /^[0-9]{1,15}$/;
const chunkedCoding = /^chunked$/i;

/** The last valid `Host`, as a cache: nearly all requests have the same. */
let validHost = '';

/** Characters other than tab and printable ASCII. */
const nonPrintable = /[^\t -~]/;
// oxlint-disable-next-line no-control-regex -- these bytes must not occur in a value
const controlCharacter = /[\0-\x08\x0a-\x1f\x7f]/;
const closeOption = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const upgradeOption = /(?:^|,)[\t ]*upgrade[\t ]*(?:,|$)/i;

/**
 * The head of the request that is being read. Each adapter uses one object for all requests, since it reads one request
 * at a time: copy the headers to keep them after the handler has returned.
 *
 * All headers are read once. Reading by name cannot distinguish an empty header from a missing one and may return only
 * the first of several, which allows request smuggling.
 */
export class RequestHead {
  /** The first `count` names belong to this request, the rest to earlier ones. */
  readonly names: string[] = [];
  readonly values: string[] = [];
  count = 0;
  /** Total length of the header lines with their separators, in bytes. */
  headerBytes = 0;
  hostCount = 0;
  host = '';
  contentLengthCount = 0;
  contentLength = '';
  transferEncodingCount = 0;
  transferEncoding = '';
  /** Value of an `Expect` header other than `100-continue`. */
  unmetExpectation = '';
  /** Whether the client waits for `100 Continue`. */
  awaitsContinue = false;
  /** Whether the request has `Connection: close`, so that it is the last of its connection (RFC 9112 §9.6). */
  isLast = false;
  /** Whether the client requests an upgrade to another protocol (RFC 9110 §7.8). */
  isUpgrade = false;
  hasControlCharacter = false;
  /** Whether `Host` is optional, as in HTTP/1.0. */
  isHostOptional = false;
  /** Rejection by the adapter itself. */
  adapterRejection: HttpRejection | undefined;
  #hasNonPrintable = false;

  /** Resets the object. Call it before the headers of the next request are added. */
  clear(): void {
    if (this.#hasNonPrintable) this.values.length = 0;
    this.#hasNonPrintable = false;
    this.count = 0;
    this.headerBytes = 0;
    this.hostCount = 0;
    this.contentLengthCount = 0;
    this.transferEncodingCount = 0;
    this.unmetExpectation = '';
    this.awaitsContinue = false;
    this.isLast = false;
    this.isUpgrade = false;
    this.hasControlCharacter = false;
    this.adapterRejection = undefined;
  }

  /** Returns why the request is malformed, or `undefined` if it is valid. */
  rejection(method: string, path: string, query: string, limits: RequestLimits): HttpRejection | undefined {
    // RFC 9112 §3 suggests 501 for a method that is too long. 400 is not counted as an error of the server.
    if (method !== 'GET' && (method.length > 64 || !tokenPattern.test(method))) return headRejections.method;
    if (path.length + (query === '' ? 0 : query.length + 1) > limits.maxHeaderBytes) {
      return headRejections.urlBytes(limits.maxHeaderBytes);
    }
    if (this.adapterRejection !== undefined) return this.adapterRejection;
    if (invalidInTarget.test(path) || (query !== '' && invalidInTarget.test(query)))
      return headRejections.target;
    if (this.headerBytes > limits.maxHeaderBytes) return headRejections.headerBytes(limits.maxHeaderBytes);
    if (this.hostCount !== 1) {
      if (this.hostCount !== 0 || !this.isHostOptional) return headRejections.host;
    } else if (this.host !== validHost) {
      if (!authority.test(this.host)) return headRejections.host;
      validHost = this.host;
    }
    if (this.transferEncodingCount !== 0) {
      if (this.contentLengthCount !== 0) return headRejections.both;
      if (this.transferEncodingCount !== 1 || !chunkedCoding.test(this.transferEncoding))
        return headRejections.transferEncoding;
    } else if (
      this.contentLengthCount !== 0 &&
      (this.contentLengthCount !== 1 || !contentLengthPattern.test(this.contentLength))
    ) {
      return headRejections.contentLength;
    }
    if (this.hasControlCharacter) return headRejections.controlCharacter;
    return this.unmetExpectation === '' ? undefined : headRejections.unmetExpectation;
  }

  /** Length of the body in bytes, if the head is valid: 0 without a body, NaN for a chunked body. */
  get bodyLength(): number {
    if (this.transferEncodingCount !== 0) return Number.NaN;
    return this.contentLengthCount === 0 ? 0 : Number(this.contentLength);
  }

  /** Adds a header. `name` must be in lower case. */
  readonly add = (name: string, receivedValue: string): void => {
    const at = this.count;
    this.count = at + 1;
    // An unchanged value was checked with the previous request, unless that one had non-printable values. Saves 0.15 µs
    // per request with five headers.
    if (this.names[at] !== name) this.names[at] = name;
    if (this.values[at] !== receivedValue) {
      this.values[at] = nonPrintable.test(receivedValue) ? this.#decode(name, receivedValue) : receivedValue;
    }
    // Read back from the array, so that an unchanged value is the old string: a new string in an old object costs a
    // write barrier.
    const value = this.values[at] ?? '';
    this.headerBytes += name.length + receivedValue.length + 4;
    // By length first: comparing a string from the parser with each name would take longer.
    switch (name.length) {
      case 4:
        if (name === 'host') {
          this.hostCount += 1;
          this.host = value;
        }
        break;
      case 6:
        if (name === 'expect') {
          if (receivedValue.toLowerCase() === '100-continue') this.awaitsContinue = true;
          else this.unmetExpectation = receivedValue;
        }
        break;
      case 10:
        if (name === 'connection' && receivedValue !== 'keep-alive') {
          if (closeOption.test(receivedValue)) this.isLast = true;
          if (upgradeOption.test(receivedValue)) this.isUpgrade = true;
        }
        break;
      case 14:
        if (name === 'content-length') {
          this.contentLengthCount += 1;
          this.contentLength = value;
        }
        break;
      case 17:
        if (name === 'transfer-encoding') {
          this.transferEncodingCount += 1;
          this.transferEncoding = value;
        }
        break;
    }
  };

  #decode(name: string, value: string): string {
    this.#hasNonPrintable = true;
    if (controlCharacter.test(value)) this.hasControlCharacter = true;
    return this.latin1(name, value);
  }

  /** Decodes a value with non-printable or non-ASCII characters as Latin-1. */
  protected latin1(_name: string, value: string): string {
    return value;
  }
}
