import type { Limit } from '../http/limit.ts';

/** W3C Trace Context, in hexadecimal. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** One request that was answered, for logs and metrics. */
export interface RequestRecord {
  readonly requestId: string;
  /** The request's method; of a call on a WebSocket, `WS`: such calls have the request id of their socket. */
  readonly method: string;
  /** The path as received, without the query: a query may carry what no log should hold. */
  readonly path: string;
  readonly protocol: 'rest' | 'rpc' | 'other';
  /** The procedure's path as it was called (of a batch: joined by commas); `undefined` where none was reached. */
  readonly operation: string | undefined;
  /**
   * The procedures that were asked for, one for each call: fit to be a metric's labels, since what is none is left out.
   */
  readonly procedures: readonly string[];
  /** How many calls it asked for: the size of a batch. */
  readonly calls: number;
  readonly status: number;
  /** Whether it was answered by a stream, or a subscription: it is told of when that is over. */
  readonly isStream: boolean;
  readonly durationMs: number;
  /** The bytes of the request's body that had come by then; `undefined` where the host does not count them, and on a WebSocket. */
  readonly bytesIn: number | undefined;
  /** The bytes of the answer's body; `undefined` for a stream, and on a WebSocket. */
  readonly bytesOut: number | undefined;
  /** The limit that it met, if any: why it was refused, or some of its calls were. */
  readonly limit: Limit | undefined;
  /**
   * What failed, where a procedure or the gateway failed unexpectedly (5xx), be it in the midst of a stream. Its text is
   * for logs only.
   */
  readonly error: unknown;
  /** The span of the request, or of the call on a WebSocket, where `telemetry` is given. */
  readonly trace?: TraceIds | undefined;
}
