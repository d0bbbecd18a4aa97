import type { RequestRecord } from 'trpc-gateway';
import type { Logger } from 'pino';
import type { LoggedRequest } from '../parts.ts';
import { syncResult } from '../hooks.ts';
import { distinctCodes, serverErrors } from '../failedCalls.ts';
import { drainingReason } from '../health/healthRoutes.ts';

/** Requests that take longer are logged as slow. */
const slowMs = 1_000;

/** Interval of the summaries of repeated requests. */
const summaryEveryMs = 1_000;

/** Text that the client controls is truncated to this size in the log. */
const maxTextBytes = 256;

export interface RequestLog {
  readonly onResponse: (record: LoggedRequest) => void;
  /** Writes the pending summaries. */
  readonly end: () => void;
}

/** Requests of the same kind as one that was logged less than a second ago. They are logged as a count. */
interface RepeatedRequests {
  readonly level: 'info' | 'warn' | 'error';
  readonly kind: Readonly<Record<string, unknown>>;
  readonly timer: NodeJS.Timeout;
  count: number;
}

export interface RequestLogOptions {
  /**
   * Which requests are logged. `errors`: requests with a status other than 2xx, with a failed call or slower than 1 s, at
   * most one of each kind per second.
   */
  readonly requests: 'errors' | 'all' | 'none';
  /**
   * Classifies an error by log fields, such as `{ store: 'unavailable' }`. Errors with the same fields are of one kind.
   * Return `undefined` for an unexpected error, which is logged every time; so is one for which it fails. Default: every error is
   * unexpected but a `TRPCError` with the code SERVICE_UNAVAILABLE, whose kind is its message: an outage has many.
   */
  readonly kindOf?: ((error: unknown) => Readonly<Record<string, string>> | undefined) | undefined;
}

/**
 * Logs requests. A line contains only fields of the request record: no headers, no query and no body, so no credentials.
 * Unauthenticated clients can cause rejected requests at will. With `errors`, each kind (a status, a limit, or the fields
 * that `kindOf` returns) is therefore limited to two lines per second: the first request, and the number of further ones.
 */
export function requestLog(log: Logger, { requests, kindOf }: RequestLogOptions): RequestLog | undefined {
  if (requests === 'none') return undefined;
  const logsAll = requests === 'all';
  const repeatedByKind = new Map<string | number, RepeatedRequests>();

  function summarize(key: string | number): void {
    const repeated = repeatedByKind.get(key);
    if (repeated === undefined) return;
    repeatedByKind.delete(key);
    clearTimeout(repeated.timer);
    const { level, kind, count } = repeated;
    if (count > 0) log[level]({ ...kind, requests: count }, 'similar requests');
  }

  /** @returns true for the first request of its kind within a second; others are counted */
  function isFirst(
    key: string | number,
    level: RepeatedRequests['level'],
    kind: RepeatedRequests['kind'],
  ): boolean {
    const repeated = repeatedByKind.get(key);
    if (repeated !== undefined) {
      repeated.count += 1;
      return false;
    }
    const timer = setTimeout(summarize, summaryEveryMs, key).unref();
    repeatedByKind.set(key, { level, kind, timer, count: 0 });
    return true;
  }

  function onResponse(requestRecord: LoggedRequest): void {
    const { callErrors, error, isStream, limit, reason, status } = requestRecord;
    const isSlow = requestRecord.durationMs > slowMs && !isStream;
    // What a stop rejects is no failure: `/readyz` has this reason, and calls on WebSockets have the limit `stopping`.
    const isFailure =
      error !== undefined || (status >= 500 && limit === undefined && reason !== drainingReason);
    // Hot path: by default most requests end here.
    if (!logsAll && status < 300 && !isFailure && !isSlow && callErrors === undefined) return;
    const level = isFailure ? 'error' : isSlow || isServerError(requestRecord) ? 'warn' : 'info';
    if (!logsAll) {
      const kind =
        error === undefined
          ? reasonKind(reason)
          : ((kindOf && syncResult('kindOf', () => kindOf(error))) ?? outageKind(error));
      const success = isSlow ? 'slow' : 'failed calls';
      const key = kind ? JSON.stringify(kind) : (limit ?? (status < 300 ? success : status));
      // Unexpected errors are bugs, and each may be a different one.
      const isCounted = error === undefined || kind !== undefined;
      if (isCounted && !isFirst(key, level, { status, limit, ...kind })) return;
    }
    const { method, operation, path, protocol, requestId, trace } = requestRecord;
    const request = {
      requestId,
      method: truncate(method),
      path: truncate(path),
      protocol,
      operation: operation && truncate(operation),
      status,
      durationMs: roundToMicroseconds(requestRecord.durationMs),
      limit,
      codes: callErrors && distinctCodes(callErrors),
      isReplay: requestRecord.isReplay || undefined,
      reason,
      // The field names of OpenTelemetry for logs.
      ...(trace && { trace_id: trace.traceId, span_id: trace.spanId }),
    };
    log[level](
      error === undefined ? request : { ...request, err: error },
      isSlow ? 'slow request' : 'request',
    );
  }

  return {
    onResponse,
    end() {
      for (const key of repeatedByKind.keys()) summarize(key);
    },
  };
}

/** Whether the response, or the error of a call in it, is an error of the server: over MCP and in batches it may be a 200. */
const isServerError = ({ callErrors, status }: RequestRecord): boolean =>
  status >= 500 || (callErrors?.some(({ code }) => serverErrors.has(code)) ?? false);

const reasonKind = (reason: string | undefined) => (reason === undefined ? undefined : { reason });

const outageKind = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'SERVICE_UNAVAILABLE'
    ? { unavailable: error.message }
    : undefined;

/** Truncates a long text and appends its full length. */
function truncate(text: string): string {
  // A UTF-16 code unit takes three bytes at most.
  if (text.length * 3 <= maxTextBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxTextBytes) return text;
  // Drops a character that was cut in the middle.
  const start = bytes.toString('utf8', 0, maxTextBytes).replace(/\uFFFD+$/, '');
  return `${start}… (${bytes.length} bytes)`;
}

/** Rounds to microseconds. Formatting all digits costs more than the rest of a line. */
const roundToMicroseconds = (ms: number) => Math.round(ms * 1000) / 1000;
