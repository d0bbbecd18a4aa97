import type { TRPCError } from '@trpc/server';
import { isEventSource, retryField } from '../http/eventSource.ts';
import type { Header, OutgoingResponse } from '../http/response.ts';
import type { RequestContext } from '../calls/requestContext.ts';
import { codeOf, originalOf } from '../procedures/clientError.ts';
import { LimitError, retryAfterSecondsOf } from '../procedures/limitError.ts';

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
