// Hot path: every request runs through it.
import { token } from '../../http/headers.ts';
import type { HttpRejection } from '../../http/service.ts';
import type { RequestHead } from './requestHead.ts';

export interface HeadLimits {
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
}

const reject = (status: number, code: string, message: string): HttpRejection => ({ status, code, message });
const badRequest = (message: string) => reject(400, 'BAD_REQUEST', message);

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
  expectation: reject(417, 'EXPECTATION_FAILED', 'The only expectation that can be met is 100-continue.'),
};

/** Looked up first: a method is nearly always one of these. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** The parser has refused control characters and blanks already, not DEL and what is beyond ASCII. */
const notOfTarget = /[^!-~]|#/;
/** `uri-host [ ":" port ]` (RFC 9110 §7.2), not empty; without the comma, by which several are joined to one. */
const authority = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[0-9A-Za-z._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/;
const digits = /^[0-9]{1,15}$/;
const chunked = /^chunked$/i;

/** The last `Host` that was found good: nearly all requests have the same. */
let goodHost = '';

/** What is wrong with a request's head; `undefined` where it can be served. Most are: their checks come cheap and first. */
export function headFault(
  method: string,
  path: string,
  query: string,
  head: RequestHead,
  { maxUrlBytes, maxHeaderBytes }: HeadLimits,
): HttpRejection | undefined {
  // A long one is 400, not 501 (RFC 9112 §3): no stranger makes the server count faults of its own.
  if (!knownMethods.has(method) && (method.length > 64 || !token.test(method))) return rejections.method;
  if (path.length + (query === '' ? 0 : query.length + 1) > maxUrlBytes) {
    return reject(414, 'URI_TOO_LONG', `The target may have ${maxUrlBytes} bytes.`);
  }
  if (notOfTarget.test(path) || (query !== '' && notOfTarget.test(query))) return rejections.target;
  if (head.bytes > maxHeaderBytes) {
    return reject(
      431,
      'REQUEST_HEADER_FIELDS_TOO_LARGE',
      `The headers may have ${maxHeaderBytes} bytes together.`,
    );
  }
  if (head.hosts !== 1) return rejections.host;
  if (head.host !== goodHost) {
    if (!authority.test(head.host)) return rejections.host;
    goodHost = head.host;
  }
  if (head.codings !== 0) {
    if (head.lengths !== 0) return rejections.both;
    if (head.codings !== 1 || !chunked.test(head.coding)) return rejections.coding;
  } else if (head.lengths !== 0 && (head.lengths !== 1 || !digits.test(head.length))) {
    return rejections.length;
  }
  if (head.hasControl) return rejections.control;
  return head.expectation === '' ? undefined : rejections.expectation;
}
