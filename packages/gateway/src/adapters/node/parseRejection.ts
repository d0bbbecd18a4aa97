import type { HttpRequest } from '../../http/request.ts';
import type { HttpRejection } from '../../http/service.ts';

/** Rejections by Node's parser, by error code. */
const parserRejections: Readonly<Record<string, HttpRejection>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
    message: 'The request target and headers are too long.',
  },
  HPE_INVALID_VERSION: {
    status: 505,
    code: 'HTTP_VERSION_NOT_SUPPORTED',
    message: 'The request is not HTTP/1.1 (RFC 9112 §2.3).',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'REQUEST_TIMEOUT',
    message: 'The request was not received in time.',
  },
};

const malformedRequest: HttpRejection = {
  status: 400,
  code: 'BAD_REQUEST',
  message: 'The request is not well-formed HTTP/1.1 (RFC 9112).',
};

export const connectRejection: HttpRejection = {
  status: 400,
  code: 'BAD_REQUEST',
  message: 'CONNECT is not supported: this server is not a proxy (RFC 9110 §9.3.6).',
};

/**
 * Returns the rejection for an error code of Node's parser, or `undefined` for a connection error, which gets no
 * response.
 */
export const parseRejection = (code = ''): HttpRejection | undefined =>
  parserRejections[code] ?? (code.startsWith('HPE_') ? malformedRequest : undefined);

const abortedSignal = AbortSignal.abort();

/** Creates a placeholder for a request that could not be parsed. */
export const unreadRequest = (remoteAddress = ''): HttpRequest => ({
  method: '',
  path: '',
  query: '',
  header: () => undefined,
  headers: () => [],
  remoteAddress: () => remoteAddress,
  body: () => Promise.reject(abortedSignal.reason),
  // oxlint-disable-next-line require-yield -- it has none
  async *bodyChunks() {
    throw abortedSignal.reason;
  },
  isAborted: false,
  signal: abortedSignal,
});
