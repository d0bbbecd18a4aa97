import type { Limit } from '../procedures/limitError.ts';
import type { Via } from '../procedures/via.ts';

/** Trace id and span id of W3C Trace Context, in hexadecimal. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** A call that failed. */
export interface CallError {
  /** The path of the procedure; `undefined` if it does not exist. Safe as a metric label. */
  readonly procedure: string | undefined;
  /** The code of the error that the client received, one of tRPC's, such as `NOT_FOUND`. Safe as a metric label. */
  readonly code: string;
}

/** A record of one completed request, for logs and metrics. `onResponse` receives it. */
export interface RequestRecord {
  /** The `X-Request-Id` of the response; on a WebSocket, that of the request that opened it. */
  readonly requestId: string;
  /** The HTTP method, or `WS` for a call on a WebSocket. Those calls share the request id of their socket. */
  readonly method: string;
  /** The path as received, without the query string, which may contain secrets. */
  readonly path: string;
  /** By the base path of the request. `other`: everything else, such as `routes` and the document. */
  readonly protocol: 'rest' | 'trpc' | 'mcp' | 'other';
  /** Through what the caller acts. Clients choose some of it, so it is not safe as a metric label. */
  readonly via: Via;
  /**
   * The path of the called procedure; in a batch, paths joined by commas. `undefined` if no procedure matched. Of a
   * request that was rejected before its calls were read, such as with 401: what its head names.
   */
  readonly operation: string | undefined;
  /** The existing procedures that the request called, one per call. Unknown names are left out: safe as metric labels. */
  readonly procedures: readonly string[];
  /** The number of calls in the request: the size of the batch. */
  readonly calls: number;
  /** The HTTP status. 101: a WebSocket was opened. 499: the client disconnected before the response. */
  readonly status: number;
  /** Whether the response was a stream or a subscription. It is reported when the stream ends. */
  readonly isStream: boolean;
  /** Time from the request's arrival to the end of its response, in milliseconds. */
  readonly durationMs: number;
  /** Bytes of the request body received; `undefined` if the adapter does not count them, and on a WebSocket. */
  readonly bytesIn: number | undefined;
  /** Bytes of the response body, compressed if it is; `undefined` for a stream, and on a WebSocket. */
  readonly bytesOut: number | undefined;
  /** Bytes of the result of a tool, also of an error, before compression; `undefined` over other protocols, and without a call. */
  readonly resultBytes?: number | undefined;
  /** The limit that rejected the request or some of its calls, if any. */
  readonly limit: Limit | undefined;
  /**
   * The unexpected error (5xx) of a procedure or of the gateway, including one that ended a stream or belongs to a
   * batch (207). With `mapError`, the original of a 5xx. Its text is for logs only.
   */
  readonly error: unknown;
  /**
   * The calls that failed, at most one error per call, with every status except 499. Over MCP, in a batch and in a stream,
   * the response has the status of a success even so. `undefined` if none failed.
   */
  readonly callErrors?: readonly CallError[] | undefined;
  /**
   * Whether the response is that of an earlier request with the same idempotency key: the gateway repeated it, or the
   * procedure has called `response.replayed()`.
   */
  readonly isReplay?: boolean | undefined;
  /** Whether the result of a tool was larger than `maxResultBytes` or `maxResponseSize`, and is not complete. `undefined` if it is complete. */
  readonly isResultCut?: true | undefined;
  /** The span of the request, or of the call on a WebSocket, if `telemetry` is set. */
  readonly trace?: TraceIds | undefined;
}
