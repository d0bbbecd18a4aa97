import type { RequestRecord, TraceIds } from '@petstore/gateway';
import type { Logger } from 'pino';
import { baseText, type Log } from './openLog.ts';

/** A response that took longer is logged as slow, in milliseconds. */
const slowMs = 1_000;

/** How often further requests of one kind get a line together, in milliseconds. */
const summaryEveryMs = 1_000;

/** How much of a text that the client chose is logged, in bytes. */
const maxTextBytes = 256;

export interface RequestLog {
  readonly onResponse: (record: RequestRecord) => void;
  /** Writes the lines that are still due. */
  readonly end: () => void;
}

/** Requests that were answered in the same way as one that got a line of its own less than a second ago. */
interface Further {
  readonly level: 'info' | 'warn' | 'error';
  readonly kind: Readonly<Record<string, unknown>>;
  readonly timer: NodeJS.Timeout;
  count: number;
}

export interface RequestLogOptions {
  /**
   * Which requests get a line. `errors`: those not answered 2xx, and those slower than 1 s, at most one of a kind a second.
   */
  readonly requests: 'errors' | 'all' | 'none';
  /**
   * Fields that say why a request failed, such as `{ store: 'unavailable' }`: failures with the same fields are of one kind.
   * `undefined` for an unexpected error, which is logged each time. Default: every error is unexpected.
   */
  readonly kindOf?: ((error: unknown) => Readonly<Record<string, string>> | undefined) | undefined;
}

/**
 * Logs requests. A line holds only what a request record holds: no header, no query, no body, so no credential. Anyone who
 * reaches the port can have requests rejected, without a credential: with `errors` each kind of them (a status, a limit,
 * what `kindOf` returns) gets at most two lines a second, the first request and the number of the others.
 */
export function requestLog(
  log: Pick<Log, 'line'> & Logger,
  { requests, kindOf }: RequestLogOptions,
): RequestLog | undefined {
  if (requests === 'none') return undefined;
  const logsAll = requests === 'all';
  const logsInfo = log.isLevelEnabled('info');
  const infoLevel = log.levels.values['info'];
  const furtherByKind = new Map<string | number, Further>();

  function summarize(key: string | number): void {
    const further = furtherByKind.get(key);
    if (further === undefined) return;
    furtherByKind.delete(key);
    clearTimeout(further.timer);
    const { level, kind, count } = further;
    if (count > 0) log[level]({ ...kind, requests: count }, 'further requests');
  }

  /** @returns whether it is the first of its kind for a second; the others are counted */
  function isFirst(key: string | number, level: Further['level'], kind: Further['kind']): boolean {
    const further = furtherByKind.get(key);
    if (further !== undefined) {
      further.count += 1;
      return false;
    }
    const timer = setTimeout(summarize, summaryEveryMs, key).unref();
    furtherByKind.set(key, { level, kind, timer, count: 0 });
    return true;
  }

  function onResponse(requestRecord: RequestRecord): void {
    const { error, isStream, limit, status } = requestRecord;
    const slow = requestRecord.durationMs > slowMs && !isStream;
    const isFailure = error !== undefined || (status >= 500 && limit === undefined);
    // Hot path: by default most requests end here.
    if (!logsAll && status < 300 && !isFailure && !slow) return;
    const level = isFailure ? 'error' : slow || status >= 500 ? 'warn' : 'info';
    if (!logsAll) {
      const kind = isFailure ? kindOf?.(error) : undefined;
      const key = kind === undefined ? (limit ?? (status < 300 ? 'slow' : status)) : JSON.stringify(kind);
      // Unexpected errors are faults of the code: each may be another one.
      const isCounted = !isFailure || kind !== undefined;
      if (isCounted && !isFirst(key, level, { status, limit, ...kind })) return;
    }
    if (level === 'info') {
      if (logsInfo) log.line(requestLine(infoLevel, requestRecord));
      return;
    }
    const { requestId, protocol, durationMs } = requestRecord;
    const method = shortened(requestRecord.method);
    const path = shortened(requestRecord.path);
    const operation = requestRecord.operation && shortened(requestRecord.operation);
    const trace = requestRecord.trace && traceFields(requestRecord.trace);
    const request = { requestId, method, path, protocol, operation, status, durationMs, limit, ...trace };
    log[level](
      error === undefined ? request : { ...request, err: withoutCopy(error) },
      slow ? 'slow request' : 'request',
    );
  }

  return {
    onResponse,
    end() {
      for (const key of furtherByKind.keys()) summarize(key);
    },
  };
}

/**
 * tRPC wraps an error that a procedure throws, with a copy of its message and stack. pino writes both those of an error and
 * of its causes: "disk full: disk full".
 */
function withoutCopy(error: unknown): unknown {
  if (!(error instanceof Error) || !(error.cause instanceof Error)) return error;
  const { cause, stack } = error;
  if (stack === undefined || stack !== cause.stack) return error;
  return Object.create(error, { cause: { value: cause.cause } }) as Error;
}

/** Of a text that a client made long only the begin, marked with the length of the whole. */
function shortened(text: string): string {
  // A UTF-16 code unit takes three bytes at most.
  if (text.length * 3 <= maxTextBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxTextBytes) return text;
  // A character that the cut goes through is left out.
  const begin = bytes.toString('utf8', 0, maxTextBytes).replace(/\uFFFD+$/, '');
  return `${begin}… (${bytes.length} bytes)`;
}

/** The names that OpenTelemetry has for them in logs. */
const traceFields = ({ spanId, traceId }: TraceIds) => ({ trace_id: traceId, span_id: spanId });

/** A line as pino writes it: in 1 µs, not 6, a third of what a 401 costs. */
function requestLine(
  level: number | undefined,
  { requestId, method, path, protocol, operation, status, durationMs, limit, trace }: RequestRecord,
): string {
  const named = operation === undefined ? '' : `,"operation":${JSON.stringify(shortened(operation))}`;
  const limited = limit === undefined ? '' : `,"limit":"${limit}"`;
  const traced = trace === undefined ? '' : `,"trace_id":"${trace.traceId}","span_id":"${trace.spanId}"`;
  // To the microsecond: all digits of the clock cost more to write than the rest.
  const ms = Math.round(durationMs * 1000) / 1000;
  return (
    `{"level":${level},"time":${Date.now()}${baseText},"requestId":${JSON.stringify(requestId)},` +
    `"method":${JSON.stringify(shortened(method))},"path":${JSON.stringify(shortened(path))},"protocol":"${protocol}"${named},` +
    `"status":${status},"durationMs":${ms}${limited}${traced},"msg":"request"}\n`
  );
}
