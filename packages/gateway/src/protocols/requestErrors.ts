import type { TRPCError } from '@trpc/server';
import type { OutgoingResponse } from '../http/response.ts';
import type { ReportedError, ReportError } from '../calls/reportError.ts';
import type { RequestContext } from '../calls/requestContext.ts';
import { codeOf, originalOf } from '../procedures/clientError.ts';
import { LimitError, retryAfterSecondsOf } from '../procedures/limitError.ts';

/** Returns an error with the properties of its call, as hooks and error formatters receive them. */
export function errorOfCall(
  error: TRPCError,
  { ctx, input, operation: path, target }: RequestContext,
): Omit<ReportedError<unknown>, 'request'> {
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

/** Records the error of a request with one call in the context. */
export function recordError(error: TRPCError, status: number, context: RequestContext): void {
  context.endedWith(codeOf(error));
  if (context.isLate) return;
  if (error instanceof LimitError) context.limit = error.limit;
  else if (status >= 500) context.error = originalOf(error);
}

/** Adds `Retry-After` to the response to an error. */
export function addRetryAfter(response: OutgoingResponse, error: TRPCError, status: number): void {
  const seconds = retryAfterSecondsOf(error, status);
  if (seconds !== undefined) response.headers.push(['retry-after', String(seconds)]);
}
