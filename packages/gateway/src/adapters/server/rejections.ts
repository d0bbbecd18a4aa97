import { requestId } from '../../http/requestId.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { RejectHttp } from '../../http/service.ts';

const contentType = ['content-type', 'application/json'] as const;
const error = (status: number, code: string, message: string, ...headers: HttpResponse['headers']) => ({
  status,
  headers: [contentType, ...headers],
  body: JSON.stringify({ code, message, status }),
});
const unavailable = (message: string) => error(503, 'SERVICE_UNAVAILABLE', message, ['retry-after', '1']);

/** For a connection beyond the limit, before it sends a request. */
export const busy: HttpResponse = unavailable('Too many connections are open.');

/** For a WebSocket upgrade on a connection that was open before the server began to stop. */
export const stopping: HttpResponse = unavailable('The server is stopping.');

/** In place of a large response while too many bytes wait for clients that do not read. */
export const overloaded: HttpResponse = unavailable('Too many answers wait to be read. Try again later.');

/** In place of a response that cannot be written, and for a service that throws or rejects. */
export const internalError: HttpResponse = error(500, 'INTERNAL_SERVER_ERROR', 'Internal server error');

/** For a malformed request, where the service has no `rejectHttp`. */
export const defaultRejection: RejectHttp = (_request, { status, code, message }) =>
  error(status, code, message, ['x-request-id', requestId(undefined)]);
