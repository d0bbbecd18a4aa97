/** The interface between adapters and the gateway: an adapter creates a request, calls `handle` and writes the response. */

import type { HttpRequest } from './request.ts';
import type { HttpResponse } from './response.ts';
import type { SocketAcceptor } from './webSocket.ts';

/** Handles a request. It never throws and never rejects: every error is a response. */
export type Handle = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/**
 * Accepts or rejects a request to open a WebSocket (RFC 6455 §4.2). Returns an acceptor, or the response that rejects
 * it. Returns `undefined`, synchronously, if the path has no WebSockets; the adapter then calls `handle`. It never
 * throws and never rejects.
 */
export type Upgrade = (
  request: HttpRequest,
) => SocketAcceptor | HttpResponse | Promise<SocketAcceptor | HttpResponse> | undefined;

/**
 * Rejects a request that has waited too long in its socket (load shedding). Returns `undefined` if the request should
 * be handled. Adapters with sockets call it before `handle`, after a small body was received. It never throws.
 */
type Shed = (request: HttpRequest) => HttpResponse | undefined;

/** The reason why an adapter rejects a malformed request before `handle`. */
export interface HttpRejection {
  readonly status: number;
  /** `BAD_REQUEST`, `URI_TOO_LONG`, `EXPECTATION_FAILED`, `REQUEST_HEADER_FIELDS_TOO_LARGE` … */
  readonly code: string;
  /** A sentence that names the problem. */
  readonly message: string;
}

/**
 * Creates the response to a request that the adapter rejects, and reports it to logs and metrics. The request is
 * malformed: its content is untrusted, and its body must not be read. The adapter closes the connection afterwards. It
 * never throws.
 */
export type RejectHttp = (request: HttpRequest, rejection: HttpRejection) => HttpResponse;

/** Default of `maxBodySize`. */
export const defaultBodyBytes = 1_048_576;

/** Default of `maxMessageSize`. */
export const defaultMessageBytes = 65_536;

/** A service that an adapter can serve: a `Gateway`, or your own implementation. */
export interface Service {
  readonly handle: Handle;
  /**
   * Whether the service handles a path, which is passed as received. An adapter that is mounted in another server passes
   * other paths on to that server. Default: all paths.
   */
  readonly serves?: (path: string) => boolean;
  /**
   * Called at start by an adapter whose parser removes bytes from headers, before it listens. Throws if the service
   * would be unsafe. Default: it is safe.
   */
  readonly allowInexactHeaders?: () => void;
  /** Whether requests come from a proxy, which keeps idle connections open. Default: false. */
  readonly isBehindProxy?: boolean;
  /** Default: no WebSockets. */
  readonly upgrade?: Upgrade;
  /** Default: no load shedding. */
  readonly shed?: Shed;
  /** Default: `{ code, message, status }` as JSON, with an `X-Request-Id`. */
  readonly rejectHttp?: RejectHttp;
  /** Maximum size in bytes of a body that is read into memory, whatever the limit of its reader. Default: 1048576. */
  readonly maxBodySize?: number;
  /** Maximum size in bytes of a body that is read in chunks. Default: `maxBodySize`. */
  readonly maxStreamSize?: number;
  /** Maximum size of a WebSocket message, in bytes. Default: 65536. */
  readonly maxMessageSize?: number;
}
