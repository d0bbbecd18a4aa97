import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';

/**
 * Names of the limits that a request can exceed, in the records of `onResponse`, and their statuses:
 * - `rate`, `failed-attempts`: 429 (options `rateLimit`, `failedAttempts`). `in-flight`, `queue-time`: 503 (`maxInFlight`,
 *   `maxQueueMs`, and subscriptions that wait). `waiting-sockets`: 503, WebSockets without a credential. `runs`: 503, and
 *   `caller-runs`: 429, of `resumable` of trpc-gateway-shared. All with `Retry-After`.
 * - `stopping`: 503, of a call on a WebSocket that arrives while the server stops.
 * - `socket-calls`: 429, of one of too many concurrent calls on a WebSocket, whose errors have no headers.
 * - `call-timeout`: 504 (`callTimeoutMs`, or the client's deadline).
 * - `body-bytes`, `response-bytes`: 413 (`maxBodySize` or `upload`, `maxResponseSize`). `url-bytes`: 414, and `header-bytes`:
 *   431 (`maxHeaderSize` of `serve`).
 * - `message-bytes`: 413, a WebSocket message is too large. Its calls are rejected, or the adapter closes the socket.
 * - `messages`, `pings` and `unsent-bytes` (429) close a WebSocket: the client sent too many messages at once, malformed
 *   messages or pings, or does not read.
 * - `query-parameters` (1,000), `batch-size` (`trpc.maxBatchSize`), `json-containers` (65,536), `json-depth` (100): 400.
 */
export type Limit =
  | 'batch-size'
  | 'body-bytes'
  | 'call-timeout'
  | 'caller-runs'
  | 'failed-attempts'
  | 'header-bytes'
  | 'in-flight'
  | 'json-containers'
  | 'json-depth'
  | 'message-bytes'
  | 'messages'
  | 'pings'
  | 'query-parameters'
  | 'queue-time'
  | 'rate'
  | 'response-bytes'
  | 'runs'
  | 'socket-calls'
  | 'stopping'
  | 'unsent-bytes'
  | 'url-bytes'
  | 'waiting-sockets';

/** The error of a request that exceeded a limit. It is not logged as an error, since the service works as intended. */
export class LimitError extends TRPCError {
  readonly limit: Limit;
  readonly retryAfterSeconds: number | undefined;

  /** `message` is sent to the client and names the limit; after `retryAfterSeconds`, it may retry. */
  constructor(
    limit: Limit,
    error: {
      readonly code: TRPCError['code'];
      readonly message: string;
      readonly retryAfterSeconds?: number;
    },
  ) {
    super(error);
    this.limit = limit;
    this.retryAfterSeconds = error.retryAfterSeconds;
  }
}

/** Value of `Retry-After` for overload or an outage, in seconds, if the error has no `retryAfterSeconds`. */
const defaultRetryAfterSeconds = 1;

/**
 * `Retry-After` in seconds: of every 429 and 503, on all protocols, and every gateway error with `retryAfterSeconds`.
 * A procedure sets that on the cause of its 429 or 503, rounded up. `status` is the response's, if it differs from
 * that of the code.
 */
export function retryAfterSecondsOf(
  error: TRPCError,
  status = getHTTPStatusCodeFromError(error),
): number | undefined {
  const ownSeconds = secondsOf(error);
  if (ownSeconds !== undefined || (status !== 503 && status !== 429)) return ownSeconds;
  return secondsOf(error.cause) ?? defaultRetryAfterSeconds;
}

function secondsOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterSeconds' in error)) return undefined;
  if (typeof error.retryAfterSeconds !== 'number') return undefined;
  // RFC 9110 §10.2.3: the header is a number of whole seconds.
  const seconds = Math.max(0, Math.ceil(error.retryAfterSeconds));
  return Number.isSafeInteger(seconds) ? seconds : undefined;
}
