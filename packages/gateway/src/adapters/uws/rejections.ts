import type { HttpResponse } from '../../http/response.ts';
import type { RejectHttp } from '../../http/service.ts';
import { requestId } from '../../http/requestId.ts';

const contentType = ['content-type', 'application/json'] as const;
const unavailable = (message: string): HttpResponse => ({
  status: 503,
  headers: [contentType, ['retry-after', '1']],
  body: JSON.stringify({ code: 'SERVICE_UNAVAILABLE', message, status: 503 }),
});

/** What a connection beyond the limit is answered, before it asks. */
export const busy: HttpResponse = unavailable('Too many connections are open.');

/** What a request for a WebSocket is answered on a connection that was there before the server began to stop. */
export const stopping: HttpResponse = unavailable('The server is stopping.');

/** What is answered in place of a large answer while as much waits for clients that do not read as may. */
export const overloaded: HttpResponse = unavailable('Too many answers wait to be read. Try again later.');

/** Response to a rejected request where the service has no `rejectHttp`. */
export const defaultRejection: RejectHttp = (_request, { status, code, message }) => ({
  status,
  headers: [contentType, ['x-request-id', requestId(undefined)]],
  body: JSON.stringify({ code, message, status }),
});
