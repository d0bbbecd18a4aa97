import type { TRPCError } from '@trpc/server';
import { isEventSource, retryField } from '../http/eventSource.ts';
import { isBodyStream, reportedStream, type Header, type OutgoingResponse } from '../http/response.ts';
import type { ReportedError, ReportError } from '../calls/reportError.ts';
import type { RequestContext } from '../calls/requestContext.ts';
import { codeOf, originalOf } from '../procedures/clientError.ts';
import { failureOf } from '../procedures/execute.ts';
import { LimitError, retryAfterSecondsOf } from '../procedures/limitError.ts';

/** Returns an error with the properties of its call, as hooks and error formatters receive them. */
export function errorOfCall(
  error: TRPCError,
  { ctx, input, outcome, target }: RequestContext,
): Omit<ReportedError<unknown>, 'request'> {
  const path = outcome.operation;
  const type = (path === undefined ? undefined : target.procedures[0]?.type) ?? 'unknown';
  return { error, path, type, input, ctx };
}

/** Reports an error to `onError`; not if the client disconnected: no response is sent then. */
export function report(
  reportError: ReportError | undefined,
  error: TRPCError,
  context: RequestContext,
): void {
  const { request } = context;
  if (reportError && !request.isAborted) reportError({ ...errorOfCall(originalOf(error), context), request });
}

/** Reports the error of a body that fails after its head was sent, so that the client receives a part of it. */
export function reportStream(
  reportError: ReportError | undefined,
  response: OutgoingResponse,
  context: RequestContext,
): void {
  const { body } = response;
  if (reportError === undefined || !isBodyStream(body)) return;
  response.body = reportedStream(body, (cause) => {
    if (cause !== undefined) report(reportError, failureOf(cause).error, context);
  });
}

/** Records the error of a request with one call in the context. */
export function recordError(error: TRPCError, status: number, { outcome }: RequestContext): void {
  outcome.endedWith(codeOf(error));
  if (outcome.isLate) return;
  if (error instanceof LimitError) outcome.limit = error.limit;
  else if (status >= 500) outcome.error = originalOf(error);
}

export function addRetryAfter(response: OutgoingResponse, error: TRPCError, status: number): void {
  const seconds = retryAfterSecondsOf(error, status);
  if (seconds !== undefined) response.headers.push(['retry-after', String(seconds)]);
}

/** Errors that may pass: those after which tRPC's `httpSubscriptionLink` connects again, and 429. */
const passingStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** The longest time after which an `EventSource` connects again, in seconds: it keeps it for later disconnects. */
const maxRetrySeconds = 30;

/**
 * For an `EventSource`, turns the response to an error that may pass into a stream with one event of `format`. It
 * connects again after `Retry-After`, or after its own time.
 */
export function forEventSource(
  response: OutgoingResponse,
  { request }: RequestContext,
  headers: readonly Header[],
  format: (body: string) => string,
): OutgoingResponse {
  const { body, status } = response;
  if (!passingStatuses.has(status) || typeof body !== 'string') return response;
  if (!isEventSource(request)) return response;
  const seconds = response.get('retry-after');
  const retry = seconds === undefined ? '' : retryField(Math.min(Number(seconds), maxRetrySeconds));
  response.delete('content-type');
  response.headers.push(...headers);
  response.status = 200;
  response.body = `${retry}${format(body)}`;
  return response;
}
