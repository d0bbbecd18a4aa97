import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpRequest } from '../../http/request.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { HttpRejection, Service } from '../../http/service.ts';
import {
  badRequest,
  defaultRejection,
  headersTooLarge,
  httpRejection,
  versionRejection,
} from '../serve/rejections.ts';
import { targetRejection } from './request.ts';
import { bufferedBody, byteLength, headText } from '../serve/responder.ts';

/** Rejections by Node's parser, by error code. */
const parserRejections: Readonly<Record<string, HttpRejection>> = {
  HPE_HEADER_OVERFLOW: headersTooLarge('The request target and headers are too long.'),
  HPE_INVALID_VERSION: versionRejection,
  ERR_HTTP_REQUEST_TIMEOUT: httpRejection(408, 'REQUEST_TIMEOUT', 'The request was not received in time.'),
};
const malformedRequest = badRequest('The request is not well-formed HTTP/1.1 (RFC 9112).');

const abortedSignal = AbortSignal.abort();

/** Creates a placeholder for a request that could not be parsed. */
const unreadRequest = (remoteAddress = ''): HttpRequest => ({
  method: '',
  path: '',
  query: '',
  header: () => undefined,
  hasHeader: () => false,
  headers: () => [],
  remoteAddress: () => remoteAddress,
  body: () => Promise.reject(abortedSignal.reason),
  bodyChunks: () => ReadableStream.from([]),
  isAborted: false,
  signal: abortedSignal,
});

/** What a connection has received. */
interface Pending {
  readonly requests: readonly unknown[];
  /** Whether its last request has arrived. */
  readonly isEnding: boolean;
}

/** Rejects malformed input, and closes the connection. @param connections the requests in progress */
export function rejectInput(
  server: Server,
  { rejectHttp = defaultRejection }: Service,
  connections: { get(socket: Socket): Pending | undefined },
): void {
  function reject(socket: Socket, rejection: HttpRejection | undefined): void {
    // While a request is being handled, the client would take the rejection for the response to that request. What follows the
    // last request gets no response.
    const { isEnding = false, requests } = connections.get(socket) ?? {};
    const isResponding = isEnding || (requests?.length ?? 0) > 0;
    if (!rejection || !socket.writable || isResponding || socket.bytesRead === 0) socket.destroy();
    else writeLast(socket, rejectHttp(unreadRequest(socket.remoteAddress), rejection));
  }
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, stream) => {
    // A connection error gets no response.
    const parserRejection = code.startsWith('HPE_') ? malformedRequest : undefined;
    reject(stream as Socket, parserRejections[code] ?? parserRejection);
  });
  server.on('connect', (_message, stream) => {
    stream.on('error', () => {});
    reject(stream as Socket, targetRejection);
  });
}

/** Writes a response without a request, and closes the connection. */
export function writeLast(socket: Socket, response: HttpResponse): void {
  const body = bufferedBody(response.body);
  const date = new Date().toUTCString();
  socket.write(
    `HTTP/1.1 ${headText(response)}\r\nDate: ${date}\r\nConnection: close\r\nContent-Length: ${byteLength(body)}\r\n\r\n`,
  );
  socket.write(body);
  socket.destroySoon();
}
