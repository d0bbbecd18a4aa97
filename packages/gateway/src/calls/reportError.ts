import type { TRPCError } from '@trpc/server';
import type { HttpRequest } from '../http/request.ts';
import { originalOf } from '../procedures/clientError.ts';
import type { RequestContext } from './requestContext.ts';

/** An error, as `onError` receives it. Its fields are those of `onError` in tRPC's adapters, with `request` for `req`. */
export interface ReportedError<Context> {
  /** The error. `error.cause` is the error that a procedure threw, if it was not a `TRPCError`. */
  readonly error: TRPCError;
  /** The procedure's path; `undefined` if the request matched no procedure. */
  readonly path: string | undefined;
  /** The type of the procedure; `unknown` if the request matched no procedure. */
  readonly type: 'query' | 'mutation' | 'subscription' | 'unknown';
  /**
   * The raw input, before validation; `undefined` if the call has not read it. Over REST, path, query and header
   * parameters are already converted from strings.
   */
  readonly input: unknown;
  /** The context; `undefined` if it was not created. */
  readonly ctx: Context | undefined;
  /** The HTTP request. For a call on a WebSocket: the request that opened the socket. */
  readonly request: HttpRequest;
}

/** Reports an error to `onError`. It never throws. */
export type ReportError = (reported: ReportedError<unknown>) => void;

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
