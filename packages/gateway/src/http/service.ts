/** The boundary between adapters and the gateway: an adapter makes an `HttpRequest`, calls `handle` and writes the response. */

import type { HttpRequest } from './request.ts';
import type { HttpResponse } from './response.ts';
import type { SocketAcceptor } from './webSocket.ts';

/** Answers one request. It never throws and never rejects: every error is a response. */
export type Handle = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/**
 * Decides on a request to open a WebSocket (RFC 6455 §4.2): an acceptor, or a response that rejects it. `undefined`, at
 * once, where the path has no WebSocket and the request is to be handled like any other. It never throws and never rejects.
 */
export type Upgrade = (
  request: HttpRequest,
) => SocketAcceptor | HttpResponse | Promise<SocketAcceptor | HttpResponse> | undefined;

/**
 * Rejects a request that has waited too long in its socket; `undefined` where it is to be handled. Adapters with sockets
 * call it before `handle`. It never throws.
 */
type Shed = (request: HttpRequest) => HttpResponse | undefined;

/** Why an adapter rejects a malformed request itself, before `handle`. */
export interface HttpRejection {
  readonly status: number;
  /** `BAD_REQUEST`, `URI_TOO_LONG`, `EXPECTATION_FAILED`, `REQUEST_HEADER_FIELDS_TOO_LARGE` … */
  readonly code: string;
  /** A sentence that names what is wrong. */
  readonly message: string;
}

/**
 * Makes the response to a request that the adapter rejects, and reports it to logs and metrics. The request is
 * malformed: nothing in it can be trusted, and its body must not be read. The adapter closes the connection afterwards.
 * It never throws.
 */
export type RejectHttp = (request: HttpRequest, rejection: HttpRejection) => HttpResponse;

/** The default of `maxBodyBytes`. */
export const defaultBodyBytes = 1_048_576;

/** The default of `maxMessageBytes` and `maxUnauthenticatedBytes`. */
export const defaultMessageBytes = 65_536;

/** What an adapter serves: a `Gateway`, or anything else that answers requests. */
export interface Service {
  readonly handle: Handle;
  /**
   * Whether a path, as received, is this service's own. A service without it has every path. An adapter that is mounted in
   * another server leaves other paths to it.
   */
  readonly serves?: (path: string) => boolean;
  readonly upgrade?: Upgrade;
  readonly shed?: Shed;
  /** Default: `{ code, message, status }` as JSON, with an `X-Request-Id`. */
  readonly rejectHttp?: RejectHttp;
  /** The largest body to accept in memory, in bytes, whatever its reader allows. Default: 1048576. */
  readonly maxBodyBytes?: number;
  /** The largest body to accept of those that are read in chunks. Default: `maxBodyBytes`. */
  readonly maxStreamBytes?: number;
  /** The largest WebSocket message to accept, in bytes. Default: 65536. */
  readonly maxMessageBytes?: number;
  /**
   * How many bytes of messages a WebSocket may send in all while its acceptor is `isUnauthenticated`, unfinished messages
   * included. Default: 65536.
   */
  readonly maxUnauthenticatedBytes?: number;
}
