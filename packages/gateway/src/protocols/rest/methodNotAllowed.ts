import { TRPCError } from '@trpc/server';
import type { OutgoingResponse } from '../../http/outgoingResponse.ts';
import type { RequestScope } from '../../calls/requestScope.ts';
import type { ErrorResponse } from './errorResponse.ts';

/** Returns the value of `Allow` for a path with these methods. `GET` implies `HEAD`, and every path has `OPTIONS`. */
export function allowOf(methods: ReadonlyMap<string, unknown>): string {
  const served = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...served, 'OPTIONS'].join(', ');
}

/** Responds to a method that a path does not support: 405 with `Allow` (RFC 9110 §15.5.6). */
export function methodNotAllowed(
  methods: ReadonlyMap<string, unknown>,
  errorResponse: ErrorResponse,
  scope: RequestScope,
): OutgoingResponse {
  const allow = allowOf(methods);
  const error = new TRPCError({
    code: 'METHOD_NOT_SUPPORTED',
    message: `The method is not allowed at this path. Use one of ${allow}.`,
  });
  return errorResponse(error, scope, [['allow', allow]]);
}
