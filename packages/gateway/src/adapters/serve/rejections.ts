import { isEventSource, retryField } from '../../http/eventSource.ts';
import type { HttpRequest } from '../../http/request.ts';
import { headersOf, type HttpResponse } from '../../http/response.ts';
import type { HttpRejection, RejectHttp } from '../../http/service.ts';

const contentType = ['content-type', 'application/json'] as const;
const jsonError = (status: number, code: string, message: string, ...headers: HttpResponse['headers']) => ({
  status,
  headers: [contentType, ...headers],
  body: JSON.stringify({ code, message, status }),
});
const retryAfter = ['retry-after', '1'] as const;
const unavailableResponse = ({ status, code, message }: HttpRejection) =>
  jsonError(status, code, message, retryAfter);

export function httpRejection(status: number, code: string, message: string): HttpRejection {
  return { status, code, message };
}
const unavailable = (message: string) => httpRejection(503, 'SERVICE_UNAVAILABLE', message);
export const badRequest = (message: string) => httpRejection(400, 'BAD_REQUEST', message);
export const headersTooLarge = (message: string) =>
  httpRejection(431, 'REQUEST_HEADER_FIELDS_TOO_LARGE', message);
export const targetTooLong = (maxBytes: number) =>
  httpRejection(414, 'URI_TOO_LONG', `The request target is longer than ${maxBytes} bytes.`);

export const versionRejection = httpRejection(
  505,
  'HTTP_VERSION_NOT_SUPPORTED',
  'The request is not HTTP/1.1 (RFC 9112 §2.3).',
);

export const busyRejection = unavailable('Too many connections are open. Try again later.');
export const stoppingRejection = unavailable('The server is stopping.');

/** Response to a connection over the limit, before it sends a request. */
export const busyResponse: HttpResponse = unavailableResponse(busyRejection);

/** Response to a WebSocket upgrade while the server is stopping. */
export const stoppingResponse: HttpResponse = unavailableResponse(stoppingRejection);

/**
 * Returns a 503 for a request, completed by the service: without its CORS headers, pages could not read it. For an
 * `EventSource`, it is a stream that ends without an event: then it connects again.
 */
export function unavailableTo(
  request: HttpRequest,
  rejection: HttpRejection,
  rejectHttp: RejectHttp,
): HttpResponse {
  const response = rejectHttp(request, rejection);
  const headers = headersOf(response);
  if (!isEventSource(request)) {
    return { status: response.status, headers: [...headers, retryAfter], body: response.body };
  }
  const others = headers.filter(([name]) => name.toLowerCase() !== 'content-type');
  return {
    status: 200,
    headers: [...others, ['content-type', 'text/event-stream']],
    body: `${retryField(1)}\n`,
  };
}

/** Sent instead of a large response while too many bytes wait for clients that do not read. */
export const overloadedResponse: HttpResponse = unavailableResponse(
  unavailable('The server is overloaded: too many responses are waiting to be read. Try again later.'),
);

/** Sent instead of an invalid response, and if the service throws or rejects. */
export const internalErrorResponse: HttpResponse = jsonError(
  500,
  'INTERNAL_SERVER_ERROR',
  'Internal server error',
);

/** Default of `rejectHttp`, the response to a malformed request. */
export const defaultRejection: RejectHttp = (_request, { status, code, message }) =>
  jsonError(status, code, message, ['x-request-id', crypto.randomUUID()]);
