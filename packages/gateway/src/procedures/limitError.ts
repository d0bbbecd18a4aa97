import { TRPCError } from '@trpc/server';
import type { Limit } from '../http/limit.ts';

interface LimitErrorOptions {
  readonly code: TRPCError['code'];
  /** For the client: a sentence that names the limit. */
  readonly message: string;
  /** After how many seconds trying again makes sense. */
  readonly retryAfterSeconds?: number;
}

/** A request that met a limit: nothing failed, so no log is told of an error. */
export class LimitError extends TRPCError {
  readonly limit: Limit;
  readonly retryAfterSeconds: number | undefined;

  constructor(limit: Limit, { retryAfterSeconds, ...error }: LimitErrorOptions) {
    super(error);
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Seconds after which a client that was refused for load or an outage may try again, where nothing says more. */
const defaultRetryAfterSeconds = 1;

/**
 * The value of `Retry-After`: there is one for each 429 and 503, whatever protocol it is answered over. A procedure sets
 * it by a number `retryAfterSeconds` of its error's cause, which is rounded up to whole seconds.
 */
export function retryAfterOf(error: TRPCError): number | undefined {
  if (error.code !== 'SERVICE_UNAVAILABLE' && error.code !== 'TOO_MANY_REQUESTS') return undefined;
  return secondsOf(error) ?? secondsOf(error.cause) ?? defaultRetryAfterSeconds;
}

function secondsOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterSeconds' in error)) return undefined;
  if (typeof error.retryAfterSeconds !== 'number') return undefined;
  // The header has whole seconds (RFC 9110 §10.2.3).
  const seconds = Math.max(0, Math.ceil(error.retryAfterSeconds));
  return Number.isSafeInteger(seconds) ? seconds : undefined;
}
