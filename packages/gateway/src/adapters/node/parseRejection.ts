import type { HttpRequest } from '../../http/request.ts';
import type { HttpRejection } from '../../http/service.ts';

/** What Node's parser rejects by itself, by the code of its error. */
const rejections: Readonly<Record<string, HttpRejection>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
    message: 'The target and the headers are too long.',
  },
  HPE_INVALID_VERSION: {
    status: 505,
    code: 'HTTP_VERSION_NOT_SUPPORTED',
    message: 'The request is not one of HTTP/1.1 (RFC 9112 §2.3).',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'REQUEST_TIMEOUT',
    message: 'The request did not arrive in time.',
  },
};

const malformed: HttpRejection = {
  status: 400,
  code: 'BAD_REQUEST',
  message: 'The request is not well-formed HTTP/1.1 (RFC 9112).',
};

export const connectRejection: HttpRejection = {
  status: 400,
  code: 'BAD_REQUEST',
  message: 'This server is no proxy: it takes no CONNECT (RFC 9110 §9.3.6).',
};

/** @returns `undefined` for an error of the connection, which has no response */
export const parseRejection = (code = ''): HttpRejection | undefined =>
  rejections[code] ?? (code.startsWith('HPE_') ? malformed : undefined);

const aborted = AbortSignal.abort();

/** In place of a request of which nothing could be read. */
export const unreadRequest = (remoteAddress = ''): HttpRequest => ({
  method: '',
  path: '',
  query: '',
  header: () => undefined,
  headers: () => [],
  remoteAddress: () => remoteAddress,
  body: () => Promise.reject(aborted.reason),
  // oxlint-disable-next-line require-yield -- it has none
  async *bodyChunks() {
    throw aborted.reason;
  },
  isAborted: false,
  signal: aborted,
});
