// Hot path: every response runs through it.
import { performance } from '../http/eventLoop.ts';
import { tryHook } from '../http/hooks.ts';
import {
  type BodyStream,
  type HttpResponse,
  isBodyStream,
  reportedStream,
  utf8Length,
  type OutgoingResponse,
} from '../http/response.ts';
import { codeOf } from '../procedures/clientError.ts';
import { failureOf } from '../procedures/execute.ts';
import { logUnexpected } from './errorLog.ts';
import type { CallError, RequestRecord, TraceIds } from './requestRecord.ts';
import type { FailedCalls, ProtocolName, RequestContext } from './requestContext.ts';

/** The options of a gateway that decide where records and errors are reported. */
interface Listeners {
  readonly onResponse?: ((record: RequestRecord) => unknown) | undefined;
  readonly onError?: unknown;
  readonly trpc?: { readonly onError?: unknown } | undefined;
}

/** The fields of a record that come from a request, or from one call on a WebSocket. */
interface Recorded extends Pick<RequestContext, 'operation' | 'limit' | 'error'> {
  readonly called: readonly string[];
  readonly callErrors: readonly CallError[] | undefined;
  /** `performance.now()`; `undefined` for a message without a call. */
  readonly startedAt: number | undefined;
}

/** A call on a WebSocket, or a malformed message, that has ended. */
interface RecordedCall extends Recorded {
  readonly status: number;
  /** Whether it is a subscription. */
  readonly isStream: boolean;
  readonly trace: TraceIds | undefined;
}

/** Reports completed requests to `onResponse`. Without it, reports unexpected errors to stderr. */
export class Recorder {
  /** Whether every request is reported, not only unexpected errors. */
  readonly isComplete: boolean;
  readonly #listener: ((record: RequestRecord) => unknown) | undefined;
  /** The protocols that log unexpected errors to stderr if there is no listener. */
  readonly #logged: readonly ProtocolName[];

  constructor({ onResponse, onError, trpc }: Listeners) {
    this.isComplete = onResponse !== undefined;
    this.#listener = onResponse;
    this.#logged = onError ? [] : trpc?.onError ? ['rest', 'mcp', 'other'] : ['rest', 'trpc', 'mcp', 'other'];
  }

  /**
   * Reports a response; for a stream, when it has ended. It replaces `response.body` of a stream with an observed one.
   * @param settle runs when a stream has ended; its record waits for the promise that this returns, and has its error
   * @returns the response
   */
  response(
    context: RequestContext,
    response: OutgoingResponse,
    settle?: () => Promise<void> | undefined,
  ): OutgoingResponse {
    const { body } = response;
    if (typeof body === 'object' && isBodyStream(body)) this.#stream(context, response, body, settle);
    else this.request(context, response);
    return response;
  }

  /** Reports a stream when it has ended. */
  #stream(
    context: RequestContext,
    response: OutgoingResponse,
    body: BodyStream,
    settle?: () => Promise<void> | undefined,
  ): void {
    response.body = reportedStream(body, (cause, isCut = false) => {
      context.isPending &&= isCut;
      context.error ??= cause;
      if (cause !== undefined) context.endedWith(codeOf(failureOf(cause).error));
      const record = () => this.request(context, response, true);
      const settling = settle?.();
      if (settling === undefined) record();
      else void settling.catch((error: unknown) => void (context.error ??= error)).then(record);
    });
  }

  /** Reports a call on a WebSocket, or a malformed message. */
  call(socket: RequestContext, call: RecordedCall): void {
    const { error, isStream, status, trace } = call;
    if (!this.isComplete && error === undefined) return;
    this.#emit({ ...toRequestRecord(socket, call, status, isStream), method: 'WS', trace });
  }

  /**
   * Reports a request.
   * @param response `undefined` if a WebSocket was opened: status 101 (RFC 6455 §4.2.2)
   */
  request(context: RequestContext, response?: HttpResponse, isStream = false): void {
    const { error, failedCalls, request, telemetry } = context;
    if (!this.isComplete && error === undefined && telemetry === undefined) return;
    // Nobody receives the response that a call has all the same.
    const isUnsent = response !== undefined && request.isAborted && !isStream;
    const status = isUnsent ? 499 : (response?.status ?? 101);
    const record = toRequestRecord(context, context, status, isStream);
    record.calls = context.callCount;
    record.isReplay = context.isReplay;
    record.bytesIn = request.receivedBytes;
    const body = request.method === 'HEAD' || isUnsent ? undefined : response?.body;
    if (body === undefined) record.bytesOut = 0;
    else if (typeof body === 'string') record.bytesOut = utf8Length(body);
    else if (body instanceof Uint8Array) record.bytesOut = body.byteLength;
    if (telemetry === undefined) return this.#emit(record, failedCalls);
    const trace = tryHook((each) => each.trace, telemetry);
    tryHook((ended) => telemetry.end(ended), record);
    if (this.isComplete || error !== undefined) this.#emit({ ...record, trace }, failedCalls);
  }

  #emit(record: RequestRecord, failedCalls: FailedCalls = new Map()): void {
    if (this.#listener) tryHook(this.#listener, record);
    else if (record.error !== undefined && this.#logged.includes(record.protocol)) {
      tryHook((failed) => logUnexpected(failed, failedCalls), record);
    }
  }
}

/** A record while it is created: always of the same shape, and never copied for HTTP. */
type NewRecord = { -readonly [Name in keyof RequestRecord]: RequestRecord[Name] };

/** Creates the record of a request, or of one call on the WebSocket that a request has opened, without bytes. */
function toRequestRecord(
  { protocol, request, requestId }: RequestContext,
  { called, callErrors, error, limit, operation, startedAt }: Recorded,
  status: number,
  isStream: boolean,
): NewRecord {
  return {
    requestId,
    method: request.method,
    path: request.path,
    protocol,
    operation: operation ?? (called.length > 0 ? called.join(',') : undefined),
    procedures: called,
    calls: startedAt === undefined ? 0 : 1,
    status,
    isStream,
    durationMs: startedAt === undefined ? 0 : performance.now() - startedAt,
    bytesIn: undefined,
    bytesOut: undefined,
    limit,
    error,
    callErrors: status === 499 ? undefined : callErrors,
    isReplay: undefined,
  };
}
