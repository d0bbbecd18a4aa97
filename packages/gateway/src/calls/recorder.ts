// Hot path: every response runs through it.
import { performance } from '../http/eventLoop.ts';
import { tryHook } from '../http/hooks.ts';
import {
  type BodyStream,
  isBodyStream,
  reportedStream,
  utf8Length,
  type OutgoingResponse,
} from '../http/response.ts';
import { codeOf } from '../procedures/clientError.ts';
import { failureOf } from '../procedures/execute.ts';
import { logUnexpected } from './errorLog.ts';
import { report, type ReportError } from './reportError.ts';
import type { CallError, RequestRecord } from './requestRecord.ts';
import type { ProtocolName, RequestContext } from './requestContext.ts';
import type { FailedCalls } from './requestOutcome.ts';

/** The options of a gateway that decide where records and errors are reported. */
interface Listeners {
  readonly onResponse?: ((record: RequestRecord) => unknown) | undefined;
  readonly trpc?: { readonly onError?: unknown } | undefined;
}

/** A call on a WebSocket, or a malformed message, that has ended. */
interface RecordedCall extends Pick<
  RequestRecord,
  'callErrors' | 'error' | 'isStream' | 'limit' | 'operation' | 'procedures' | 'status' | 'trace'
> {
  /** `performance.now()`; `undefined` for a message without a call. */
  readonly startedAt: number | undefined;
}

/** Reports completed requests to `onResponse`. Without it, reports unexpected errors to stderr. */
export class Recorder {
  /** Whether every request is reported, not only unexpected errors. */
  readonly isComplete: boolean;
  readonly #listener: ((record: RequestRecord) => unknown) | undefined;
  /** The protocols that log unexpected errors to stderr if there is no listener. */
  readonly #logged: readonly ProtocolName[];
  readonly #reportError: ReportError | undefined;

  constructor({ onResponse, trpc }: Listeners, reportError: ReportError | undefined) {
    this.isComplete = onResponse !== undefined;
    this.#listener = onResponse;
    this.#reportError = reportError;
    this.#logged = reportError
      ? []
      : trpc?.onError
        ? ['rest', 'mcp', 'other']
        : ['rest', 'trpc', 'mcp', 'other'];
  }

  /**
   * Reports a request; one whose response is a stream, when that has ended: it replaces `response.body` with an observed one.
   * @param response `undefined` if a WebSocket was opened: status 101 (RFC 6455 §4.2.2)
   * @param settle runs when a stream has ended; its record waits for the promise that this returns, and has its error
   * @param isStream whether the response is a stream that has ended, for this class alone
   */
  request(
    context: RequestContext,
    response?: OutgoingResponse,
    settle?: () => Promise<void> | undefined,
    isStream = false,
  ): void {
    const { outcome, request, telemetry } = context;
    const { error, failedCalls, operation } = outcome;
    const sent = response?.body;
    if (typeof sent === 'object' && isBodyStream(sent) && !isStream) {
      return this.#stream(context, response as OutgoingResponse, sent, settle);
    }
    if (!this.isComplete && error === undefined && telemetry === undefined) return;
    // Nobody receives the response that a call has all the same.
    const isUnsent = response !== undefined && request.isAborted && !isStream;
    const called = outcome.calledPaths ?? (operation === undefined ? namedPaths(context) : [operation]);
    const hasFailed = outcome.requestCode !== undefined || outcome.failedCodes !== undefined;
    const body = request.method === 'HEAD' || isUnsent ? undefined : sent;
    let bytesOut: number | undefined;
    if (body === undefined) bytesOut = 0;
    else if (typeof body === 'string') bytesOut = utf8Length(body);
    else if (body instanceof Uint8Array) bytesOut = body.byteLength;
    const record: RequestRecord = {
      requestId: context.requestId,
      method: request.method,
      path: request.path,
      protocol: context.protocol,
      via: context.via,
      operation: operation ?? (called.length > 0 ? called.join(',') : undefined),
      procedures: called,
      calls: outcome.calls,
      status: isUnsent ? 499 : (response?.status ?? 101),
      isStream,
      durationMs: performance.now() - context.startedAt,
      bytesIn: request.receivedBytes,
      bytesOut,
      resultBytes: outcome.result === undefined ? undefined : utf8Length(outcome.result),
      limit: outcome.limit,
      error,
      callErrors: hasFailed && !isUnsent ? callErrorsOf(context, called) : undefined,
      isReplay: context.response.isReplayed,
      isResultCut: outcome.isResultCut || undefined,
    };
    if (telemetry === undefined) return this.#emit(record, failedCalls);
    const trace = tryHook((each) => each.trace, telemetry);
    tryHook((ended) => telemetry.end(ended), record);
    if (this.isComplete || error !== undefined) this.#emit({ ...record, trace }, failedCalls);
  }

  /** Reports a stream when it has ended. */
  #stream(
    context: RequestContext,
    response: OutgoingResponse,
    body: BodyStream,
    settle?: () => Promise<void> | undefined,
  ): void {
    response.body = reportedStream(body, (cause, isCut = false) => {
      const { outcome } = context;
      outcome.isPending &&= isCut;
      outcome.error ??= cause;
      if (cause !== undefined) {
        const { error } = failureOf(cause);
        outcome.endedWith(codeOf(error));
        // Streams of tRPC, and events of all protocols, report their errors themselves.
        if (context.protocol !== 'trpc') report(this.#reportError, error, context);
      }
      const record = () => this.request(context, response, undefined, true);
      const settling = settle?.();
      if (settling === undefined) record();
      else void settling.catch((error: unknown) => void (outcome.error ??= error)).then(record);
    });
  }

  /** Reports a call on a WebSocket, or a malformed message. */
  call(
    { protocol, request, requestId, via }: RequestContext,
    { startedAt, trace, ...call }: RecordedCall,
  ): void {
    if (!this.isComplete && call.error === undefined) return;
    this.#emit({
      requestId,
      method: 'WS',
      path: request.path,
      protocol,
      via,
      ...call,
      calls: startedAt === undefined ? 0 : 1,
      durationMs: startedAt === undefined ? 0 : performance.now() - startedAt,
      bytesIn: undefined,
      bytesOut: undefined,
      isReplay: undefined,
      trace,
    });
  }

  #emit(record: RequestRecord, failedCalls?: FailedCalls): void {
    if (this.#listener) tryHook(this.#listener, record);
    else if (record.error !== undefined && this.#logged.includes(record.protocol)) {
      tryHook((failed) => logUnexpected(failed, failedCalls), record);
    }
  }
}

/** The procedures that a request names, of which none was called, since it was rejected before. */
const namedPaths = ({ outcome, target }: RequestContext): readonly string[] =>
  outcome.calls > 0 ? target.procedures.flatMap((procedure) => procedure?.path ?? []) : [];

/** Returns the calls of a request that failed; `undefined` if there are none. */
function callErrorsOf(
  { outcome, target }: RequestContext,
  called: readonly string[],
): readonly CallError[] | undefined {
  const { calls, failedCodes = [], requestCode: code } = outcome;
  if (code === undefined) {
    return Array.from(failedCodes, ([index, each]) => ({
      procedure: target.procedures[index]?.path,
      code: each,
    }));
  }
  return calls > 0
    ? Array.from({ length: Math.max(calls, called.length) }, (_, at) => ({ procedure: called[at], code }))
    : undefined;
}
