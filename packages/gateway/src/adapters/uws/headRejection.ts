// Hot path: every request runs through it.
import { token } from '../../http/headers.ts';
import type { HttpRejection } from '../../http/service.ts';
import type { RequestHead } from './requestHead.ts';

export interface HeadLimits {
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
}

const rejection = (status: number, code: string, message: string): HttpRejection => ({
  status,
  code,
  message,
});
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
};

/** The parser rejects control characters and blanks by itself, but not DEL and bytes beyond ASCII. */
const invalidInTarget = /[^!-~]|#/;
/** `uri-host [ ":" port ]` (RFC 9110 §7.2), not empty; without the comma, which joins several to one. */
const authority = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[0-9A-Za-z._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/;
const digits = /^[0-9]{1,15}$/;
const chunked = /^chunked$/i;

/** The last valid `Host`: nearly all requests have the same. */
let validHost = '';

/** Why a request is malformed; `undefined` where it can be handled. */
export function headRejection(
  method: string,
  path: string,
  query: string,
  head: RequestHead,
  { maxUrlBytes, maxHeaderBytes }: HeadLimits,
): HttpRejection | undefined {
  // Too long a method is 400, not 501 (RFC 9112 §3): a client must not cause errors that count as the server's.
  if (method !== 'GET' && (method.length > 64 || !token.test(method))) return rejections.method;
  if (path.length + (query === '' ? 0 : query.length + 1) > maxUrlBytes) {
    return rejection(414, 'URI_TOO_LONG', `The target may have ${maxUrlBytes} bytes.`);
  }
  if (invalidInTarget.test(path) || (query !== '' && invalidInTarget.test(query))) return rejections.target;
  if (head.bytes > maxHeaderBytes) {
    return rejection(
      431,
      'REQUEST_HEADER_FIELDS_TOO_LARGE',
      `The headers may have ${maxHeaderBytes} bytes together.`,
    );
  }
  if (head.hosts !== 1) return rejections.host;
  if (head.host !== validHost) {
    if (!authority.test(head.host)) return rejections.host;
    validHost = head.host;
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
