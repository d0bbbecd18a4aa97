import { getErrorShape, transformTRPCResponse, type AnyTRPCRouter, type TRPCError } from '@trpc/server';
import { getHTTPStatusCode } from '@trpc/server/http';
import { ResponseDraft } from '../../http/responseDraft.ts';
import type { Header } from '../../http/response.ts';
import type { ErrorReporter } from '../../policies/hooks.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import { LimitError, retryAfterSecondsOf } from '../../procedures/limitError.ts';
import { unknownCall } from '../../procedures/shownError.ts';

export const jsonType: Header = ['content-type', 'application/json'];

/**
 * The tRPC response of an error that is not a procedure's. Unexpected errors (5xx) and limits are recorded in the
 * scope.
 */
export type TrpcErrorResponse = (
  error: TRPCError,
  scope: RequestScope,
  headers?: readonly Header[],
) => ResponseDraft;

/** @param reporter receives each error before it is answered, unless its call has: those of policies */
export function createTrpcErrorResponse(
  router: AnyTRPCRouter,
  reporter: ErrorReporter | undefined,
): TrpcErrorResponse {
  const errorResponse = errorResponseOf(router);
  if (reporter === undefined) return errorResponse;
  return (error, scope, headers) => {
    reporter.reportOnce({ error, request: scope.request, ...unknownCall });
    return errorResponse(error, scope, headers);
  };
}

/** One error, unbatched: every link of the client reads it, whatever was called. */
function errorResponseOf(router: AnyTRPCRouter): TrpcErrorResponse {
  // Whatever the router says: these errors are the gateway's own, and their stacks too.
  const config = { ...router._def._config, isDev: false };
  const bodyOf = (shape: object) => JSON.stringify(transformTRPCResponse(config, { error: shape } as never));
  return (error, scope, headers = [jsonType]) => {
    let status = 500;
    let body: string;
    try {
      const shape = getErrorShape({ config, error, ...unknownCall });
      body = bodyOf(shape);
      status = getHTTPStatusCode({ error: shape }, [error]);
    } catch {
      // The router's `errorFormatter` has failed, maybe with the error that it is given here, or made what is no JSON.
      body = hiddenBody(bodyOf);
    }
    if (error instanceof LimitError) scope.limit = error.limit;
    else if (status >= 500) {
      scope.error = error;
      scope.failedCalls = [{ error, path: undefined }];
    }
    return new ResponseDraft(status, [...headers, ...retryAfterHeader([error])], body);
  };
}

/** `Retry-After` of a response with errors: the longest of theirs. */
export function retryAfterHeader(errors: readonly TRPCError[]): readonly Header[] {
  const seconds = errors.flatMap((error) => retryAfterSecondsOf(error) ?? []);
  return seconds.length === 0 ? [] : [['retry-after', String(Math.max(...seconds))]];
}

/** As tRPC's adapters (@trpc/server 11.25) have it. */
export const hiddenShape = {
  code: -32603,
  message: 'Internal server error',
  data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 },
};

/** It never throws: the router's transformer may fail with any shape. */
function hiddenBody(bodyOf: (shape: object) => string): string {
  try {
    return bodyOf(hiddenShape);
  } catch {
    return JSON.stringify({ error: hiddenShape });
  }
}
