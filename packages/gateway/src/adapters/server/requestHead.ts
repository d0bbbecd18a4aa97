// Hot path: every request runs through it. What is unusual here is measured: ../uws/testing/headCost.ts.
import { token } from '../../http/headers.ts';
import type { HttpRejection } from '../../http/service.ts';

export interface RequestLimits {
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
  /** How large a body may be that is read whole. */
  readonly maxBodyBytes: number;
  /** How large a body may be that is read in chunks. */
  readonly maxStreamBytes: number;
  /** Whether the server has TLS, where its requests do not tell. */
  readonly isTls?: boolean;
}

function rejection(status: number, code: string, message: string): HttpRejection {
  return { status, code, message };
}
const badRequest = (message: string) => rejection(400, 'BAD_REQUEST', message);

const rejections = {
  method: badRequest('The method is not a token of at most 64 bytes (RFC 9110 §9.1).'),
  target: badRequest(
    'The target holds a byte that a URI cannot have: percent-encode it (RFC 3986 §2), and leave the fragment out.',
  ),
  host: badRequest('The request must have one Host header, with a host and at most a port (RFC 9112 §3.2).'),
  coding: badRequest('Transfer-Encoding may be given once, and only as chunked (RFC 9112 §6.1).'),
  both: badRequest('A request has Content-Length or Transfer-Encoding, never both (RFC 9112 §6.1).'),
  length: badRequest('Content-Length may be given once, and only in digits, 15 at most (RFC 9110 §8.6).'),
  control: badRequest('A header value holds a control character (RFC 9110 §5.5).'),
  expectation: rejection(417, 'EXPECTATION_FAILED', 'The only expectation that can be met is 100-continue.'),
  urlBytes: (max: number) => rejection(414, 'URI_TOO_LONG', `The target may have ${max} bytes.`),
  headerBytes: (max: number) =>
    rejection(431, 'REQUEST_HEADER_FIELDS_TOO_LARGE', `The headers may have ${max} bytes together.`),
};

/** Parsers reject control characters and blanks by themselves, but not DEL and bytes beyond ASCII. */
const invalidInTarget = /[^!-~]|#/;
/** `uri-host [ ":" port ]` (RFC 9110 §7.2), not empty; without the comma, which joins several to one. */
const authority = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[0-9A-Za-z._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/;
const digits = /^[0-9]{1,15}$/;
const chunked = /^chunked$/i;

/** The last valid `Host`: nearly all requests have the same. */
let validHost = '';

/** Other than tab and printable ASCII. */
const unusual = /[^\t -~]/;
// oxlint-disable-next-line no-control-regex -- these are the bytes that a value must not have
const control = /[\0-\x08\x0a-\x1f\x7f]/;
const closing = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const upgrading = /(?:^|,)[\t ]*upgrade[\t ]*(?:,|$)/i;

/**
 * The head of the request that is being read. One object for all requests of an adapter, since one request is read at a
 * time: to keep the headers longer than its handler runs, copy them.
 *
 * All headers are read, once: reading by name cannot tell an empty header from none and may show only the first of several,
 * and that is where requests are smuggled.
 */
export class RequestHead {
  /** The first `count` are this request's; the rest are of others. */
  readonly names: string[] = [];
  readonly values: string[] = [];
  count = 0;
  /** The length of the header lines, with their separators, in bytes. */
  bytes = 0;
  hosts = 0;
  host = '';
  lengths = 0;
  length = '';
  codings = 0;
  coding = '';
  /** An `Expect` that is not `100-continue`. */
  expectation = '';
  /** Whether the client waits for `100 Continue`. */
  expects = false;
  /** Whether the client asks to close the connection after this request (RFC 9112 §9.6). */
  isLast = false;
  /** Whether the client asks for another protocol (RFC 9110 §7.8). */
  upgrades = false;
  hasControl = false;
  /** Whether the request may come without a `Host`, as one of HTTP/1.0. */
  mayLackHost = false;
  /** Why the adapter itself rejects the request. */
  fromAdapter: HttpRejection | undefined;
  #hasUnusual = false;

  /** Call it before the headers of the next request are added. */
  clear(): void {
    if (this.#hasUnusual) this.values.length = 0;
    this.#hasUnusual = false;
    this.count = 0;
    this.bytes = 0;
    this.hosts = 0;
    this.lengths = 0;
    this.codings = 0;
    this.expectation = '';
    this.expects = false;
    this.isLast = false;
    this.upgrades = false;
    this.hasControl = false;
    this.fromAdapter = undefined;
  }

  /** Why the request is malformed; `undefined` where it can be handled. */
  rejection(method: string, path: string, query: string, limits: RequestLimits): HttpRejection | undefined {
    // Too long a method is 400, not 501 (RFC 9112 §3): a client must not cause errors that count as the server's.
    if (method !== 'GET' && (method.length > 64 || !token.test(method))) return rejections.method;
    if (path.length + (query === '' ? 0 : query.length + 1) > limits.maxUrlBytes) {
      return rejections.urlBytes(limits.maxUrlBytes);
    }
    if (this.fromAdapter !== undefined) return this.fromAdapter;
    if (invalidInTarget.test(path) || (query !== '' && invalidInTarget.test(query))) return rejections.target;
    if (this.bytes > limits.maxHeaderBytes) return rejections.headerBytes(limits.maxHeaderBytes);
    if (this.hosts !== 1) {
      if (this.hosts !== 0 || !this.mayLackHost) return rejections.host;
    } else if (this.host !== validHost) {
      if (!authority.test(this.host)) return rejections.host;
      validHost = this.host;
    }
    if (this.codings !== 0) {
      if (this.lengths !== 0) return rejections.both;
      if (this.codings !== 1 || !chunked.test(this.coding)) return rejections.coding;
    } else if (this.lengths !== 0 && (this.lengths !== 1 || !digits.test(this.length))) {
      return rejections.length;
    }
    if (this.hasControl) return rejections.control;
    return this.expectation === '' ? undefined : rejections.expectation;
  }

  /** The body's length in bytes where the head is sound: 0 without a body, NaN for a chunked one. */
  get bodyLength(): number {
    if (this.codings !== 0) return Number.NaN;
    return this.lengths === 0 ? 0 : Number(this.length);
  }

  /** @param name in lower case */
  readonly add = (name: string, given: string): void => {
    const at = this.count;
    this.count = at + 1;
    // A value of the request before was checked with it, unless it had unusual ones: 0.15 µs of a request with five headers.
    if (this.names[at] !== name) this.names[at] = name;
    if (this.values[at] !== given) this.values[at] = unusual.test(given) ? this.#decode(name, given) : given;
    // What is kept of it is kept by the arrays already: another new string in an old object costs a write barrier.
    const value = this.values[at] ?? '';
    this.bytes += name.length + given.length + 4;
    // By length first: comparing a string from the parser with each name costs more.
    switch (name.length) {
      case 4:
        if (name === 'host') {
          this.hosts += 1;
          this.host = value;
        }
        break;
      case 6:
        if (name === 'expect') {
          if (given.toLowerCase() === '100-continue') this.expects = true;
          else this.expectation = given;
        }
        break;
      case 10:
        if (name === 'connection' && given !== 'keep-alive') {
          if (closing.test(given)) this.isLast = true;
          if (upgrading.test(given)) this.upgrades = true;
        }
        break;
      case 14:
        if (name === 'content-length') {
          this.lengths += 1;
          this.length = value;
        }
        break;
      case 17:
        if (name === 'transfer-encoding') {
          this.codings += 1;
          this.coding = value;
        }
        break;
    }
  };

  #decode(name: string, value: string): string {
    this.#hasUnusual = true;
    if (control.test(value)) this.hasControl = true;
    return this.latin1(name, value);
  }

  /** A value that has other than printable ASCII, as Latin-1. */
  protected latin1(_name: string, value: string): string {
    return value;
  }
}
