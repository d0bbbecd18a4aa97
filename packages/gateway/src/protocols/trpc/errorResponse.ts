import type { AnyTRPCRouter, TRPCError } from '@trpc/server';
import { getHTTPStatusCode } from '@trpc/server/http';
import { OutgoingResponse } from '../../http/outgoingResponse.ts';
import type { Header } from '../../http/response.ts';
import type { ErrorReporter } from '../../calls/hooks.ts';
import type { RequestScope } from '../../calls/requestScope.ts';
import { LimitError, retryAfterSecondsOf } from '../../procedures/limitError.ts';
import { errorStatusOf, unknownCall } from '../../procedures/formattedError.ts';
import { createShapeOf, encodeError, type Config } from './errorShape.ts';

export const jsonType: Header = ['content-type', 'application/json'];

/**
 * Converts an error outside of a procedure to a tRPC response. Unexpected errors (5xx) and limits are recorded in the
 * scope.
 */
export type TrpcErrorResponse = (
  error: TRPCError,
  scope: RequestScope,
  headers?: readonly Header[],
) => OutgoingResponse;

/**
 * Creates the function that converts errors outside of a procedure to tRPC responses.
 * @param reporter receives each error before its response, unless it was reported already
 */
export function createTrpcErrorResponse(
  router: AnyTRPCRouter,
  reporter: ErrorReporter | undefined,
  options: TrpcErrorOptions,
): TrpcErrorResponse {
  const errorResponse = errorResponseOf(router, options);
  if (reporter === undefined) return errorResponse;
  return (error, scope, headers) => {
    reporter.reportOnce({ error, request: scope.request, ...unknownCall });
    return errorResponse(error, scope, headers);
  };
}

export interface TrpcErrorOptions {
  readonly maxResponseBytes: number;
  /** Whether the messages of unexpected errors are hidden. */
  readonly isMasked: boolean;
}

/** Encodes a single error, not a batch: every link of the tRPC client accepts it. */
function errorResponseOf(
  router: AnyTRPCRouter,
  { isMasked, maxResponseBytes }: TrpcErrorOptions,
): TrpcErrorResponse {
  // Never with stack traces, which would be the gateway's.
  const config = { ...router._def._config, isDev: false };
  const shapeOf = createShapeOf(config, isMasked);
  return (error, scope, headers = [jsonType]) => {
    let status = 500;
    let body: string;
    let shown = error;
    try {
      const { replacement, shape, text } = encodeError(
        shapeOf({ error, ...unknownCall }),
        config,
        maxResponseBytes,
      );
      shown = replacement ?? error;
      body = text;
      status = getHTTPStatusCode({ error: shape } as never, [shown]);
    } catch {
      // The router's `errorFormatter` has thrown, or its result cannot be encoded.
      body = genericErrorBody(config);
    }
    if (shown instanceof LimitError) scope.limit = shown.limit;
    else if (status >= 500) {
      scope.error = error;
      scope.failedCalls = [{ error, path: undefined }];
    }
    return new OutgoingResponse(status, [...headers, ...retryAfterHeader([shown])], body);
  };
}

/** Returns `Retry-After` for a response with errors: the longest of their times. */
export function retryAfterHeader(errors: readonly TRPCError[]): readonly Header[] {
  const seconds = errors.flatMap((error) => retryAfterSecondsOf(error, errorStatusOf(error)) ?? []);
  return seconds.length === 0 ? [] : [['retry-after', String(Math.max(...seconds))]];
}

/** The shape that tRPC's adapters (@trpc/server 11.25) send if an error cannot be formatted. */
export const genericErrorShape = {
  code: -32603,
  message: 'Internal server error',
  data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 },
};

/** Encodes `genericErrorShape`, without the router's transformer if that throws. It never throws. */
function genericErrorBody(config: Config): string {
  try {
    return encodeError(genericErrorShape, config, Infinity).text;
  } catch {
    return JSON.stringify({ error: genericErrorShape });
  }
}
