import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import type { Limit } from '../http/limit.ts';

interface LimitErrorOptions {
  readonly code: TRPCError['code'];
  /** Sent to the client: a sentence that names the limit. */
  readonly message: string;
  /** When the client may retry, in seconds. */
  readonly retryAfterSeconds?: number;
}

/** A request that exceeded a limit. Nothing failed, so it is not logged as an error. */
export class LimitError extends TRPCError {
  readonly limit: Limit;
  readonly retryAfterSeconds: number | undefined;

  constructor(limit: Limit, { retryAfterSeconds, ...error }: LimitErrorOptions) {
    super(error);
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** When a client may retry after overload or an outage, in seconds, if the error does not say. */
const defaultRetryAfterSeconds = 1;

/**
 * The value of `Retry-After`. Every 429 and 503 has one, on all protocols, and so has an error of the gateway with
 * `retryAfterSeconds`. A procedure sets it with a number
 * `retryAfterSeconds` on its error's cause, which is rounded up to whole seconds.
 * @param status of the response, where it is not that of the error's code
 */
export function retryAfterOf(
  error: TRPCError,
  status = getHTTPStatusCodeFromError(error),
): number | undefined {
  const own = secondsOf(error);
  if (own !== undefined || (status !== 503 && status !== 429)) return own;
  return secondsOf(error.cause) ?? defaultRetryAfterSeconds;
}

function secondsOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterSeconds' in error)) return undefined;
  if (typeof error.retryAfterSeconds !== 'number') return undefined;
  // The header has whole seconds (RFC 9110 §10.2.3).
  const seconds = Math.max(0, Math.ceil(error.retryAfterSeconds));
  return Number.isSafeInteger(seconds) ? seconds : undefined;
}
