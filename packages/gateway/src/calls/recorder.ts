// Hot path: every response runs through it.
import { performance } from '../http/performance.ts';
import type { OutgoingResponse } from '../http/outgoingResponse.ts';
import { reportedStream } from '../http/reportedStream.ts';
import { isBodyStream, type BodyStream, type HttpResponse } from '../http/response.ts';
import { utf8Length } from '../http/utf8.ts';
import { logUnexpected } from './errorLog.ts';
import type { RequestRecord } from './requestRecord.ts';
import type { ProtocolName, RequestScope } from './requestScope.ts';
import { ignoreErrors } from './telemetry.ts';

/** The options of a gateway that decide where records and errors are reported. */
interface Listeners {
  readonly onResponse?: ((record: RequestRecord) => void) | undefined;
  readonly onError?: unknown;
  readonly trpc?: { readonly onError?: unknown } | undefined;
}

/** Reports completed requests to `onResponse`. Without it, reports unexpected errors to stderr. */
export class Recorder {
  readonly #listener: ((record: RequestRecord) => void) | undefined;
  /** The protocols that log unexpected errors to stderr if there is no listener. */
  readonly #logged: readonly ProtocolName[];

  constructor({ onResponse, onError, trpc }: Listeners) {
    this.#listener = onResponse;
    this.#logged = onError ? [] : trpc?.onError ? ['rest', 'other'] : ['rest', 'trpc', 'other'];
  }

  /** Whether every request is reported, not only unexpected errors. */
  get isComplete(): boolean {
    return this.#listener !== undefined;
  }

  /**
   * Reports a response; for a stream, when it has ended. It replaces `response.body` of a stream with an observed one.
   */
  response(scope: RequestScope, response: OutgoingResponse): void {
    const { body } = response;
    if (isBodyStream(body)) {
      response.body = reportedStream(body, (cause) => {
        scope.error ??= cause;
        this.#report(scope, response, true);
      });
      return;
    }
    this.#report(scope, response, false);
  }

  /** Reports that a WebSocket was opened. */
  upgrade(scope: RequestScope): void {
    this.#report(scope, undefined, false);
  }

  /** Reports a complete record, such as that of a call on a WebSocket. */
  emit(record: RequestRecord, failedCalls: RequestScope['failedCalls'] = []): void {
    try {
      if (this.#listener) this.#listener(record);
      else if (this.#logged.includes(record.protocol)) logUnexpected(record, failedCalls);
    } catch {
      // The log itself failed. The client still gets its response.
    }
  }

  #report(scope: RequestScope, response: HttpResponse | undefined, isStream: boolean): void {
    const { telemetry } = scope;
    const isReported = this.#listener !== undefined || scope.error !== undefined;
    if (!isReported && telemetry === undefined) return;
    const record = toRequestRecord(scope, response, isStream);
    if (telemetry === undefined) return this.emit(record, scope.failedCalls);
    const { trace } = telemetry;
    ignoreErrors(() => telemetry.end(record));
    if (isReported) this.emit({ ...record, trace }, scope.failedCalls);
  }
}

/**
 * Creates the record of a request.
 * @param response `undefined` if a WebSocket was opened: status 101 (RFC 6455 §4.2.2)
 */
function toRequestRecord(
  scope: RequestScope,
  response: HttpResponse | undefined,
  isStream: boolean,
): RequestRecord {
  const { operation, protocol, request } = scope;
  const { method, path } = request;
  return {
    requestId: scope.requestId,
    method,
    path,
    protocol,
    operation,
    procedures: scope.calledPaths ?? (operation === undefined ? [] : [operation]),
    calls: response === undefined || protocol === 'other' || method === 'OPTIONS' ? 0 : scope.calls,
    status: response?.status ?? 101,
    isStream,
    durationMs: performance.now() - scope.startedAt,
    bytesIn: request.receivedBytes,
    bytesOut: method === 'HEAD' ? 0 : byteLengthOf(response?.body),
    limit: scope.limit,
    error: scope.error,
  };
}

function byteLengthOf(body: string | Uint8Array | BodyStream | undefined): number | undefined {
  if (body === undefined) return 0;
  if (typeof body === 'string') return utf8Length(body);
  return body instanceof Uint8Array ? body.byteLength : undefined;
}
