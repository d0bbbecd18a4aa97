import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { BodyTooLargeError } from '../../http/request.ts';
import { type Header, OutgoingResponse } from '../../http/response.ts';
import type { HttpRejection } from '../../http/service.ts';
import type { ErrorFormat, RestError } from '../../operations/errorFormat.ts';
import type { PropertyPlace } from '../../operations/propertyPlaces.ts';
import type { ReportError } from '../../calls/reportError.ts';
import { boundedJson, errorTooLarge, maxErrorBytes } from '../../calls/responseBytes.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { clientMessage, formattedError } from '../../procedures/clientError.ts';
import type { ErrorDefinitions } from '../../procedures/declareErrors.ts';
import { codeMessage } from '../../procedures/errorCodes.ts';
import { formatIssues, issuesOf, type InputIssue } from '../../procedures/inputError.ts';
import { LimitError, retryAfterSecondsOf } from '../../procedures/limitError.ts';

type Places = ReadonlyMap<PropertyKey, PropertyPlace>;

export type ErrorResponse = ReturnType<typeof createErrorResponse>;

/**
 * Creates the function that converts errors to REST responses. The status is that of the declared error or of tRPC's
 * code, the body that of the format. Unexpected errors (5xx) and limits are recorded in the context.
 * @param reportError receives each error before its response
 */
export function createErrorResponse(
  format: ErrorFormat,
  reportError: ReportError | undefined,
  maxResponseBytes: number,
) {
  const shared: readonly Header[] = [['content-type', format.contentType]];

  function respond(
    error: TRPCError,
    context: RequestContext,
    headers: readonly Header[],
    declared: ErrorDefinitions | undefined,
    places: Places | undefined,
  ): OutgoingResponse {
    let shown: RestError;
    let body: string;
    try {
      shown = restError(error, declared, places);
      const replacer = shown.issues.length > 0 ? bigintsAsText : undefined;
      body = boundedJson(format.body(shown), maxErrorBytes(maxResponseBytes), replacer) as string;
    } catch (cause) {
      const isAboutSize = error instanceof LimitError && error.limit === 'response-bytes';
      if (cause instanceof LimitError && !isAboutSize) {
        return respond(errorTooLarge(maxResponseBytes), context, headers, undefined, undefined);
      }
      // A custom format has thrown, or the data of an error does not match its declaration.
      context.error = cause;
      return new OutgoingResponse(500, headers.slice(), internalErrorBody, jsonType);
    }
    const response = new OutgoingResponse(shown.status, headers.slice(), body, shared);
    const retryAfterSeconds = retryAfterSecondsOf(error, shown.status);
    if (retryAfterSeconds !== undefined) response.headers.push(['retry-after', String(retryAfterSeconds)]);
    if (error instanceof LimitError) context.limit = error.limit;
    else if (shown.status >= 500) context.error = error;
    return response;
  }

  /**
   * @param declared the declared errors of the procedure
   * @param places the parts of the request that carry properties of the input, to name them in issues
   */
  return (
    error: TRPCError,
    context: RequestContext,
    headers: readonly Header[] = [],
    declared?: ErrorDefinitions,
    places?: Places,
  ): OutgoingResponse => {
    const { ctx, input, operation: path, request, target } = context;
    // Not if the client disconnected: no response is sent then.
    if (reportError && !request.isAborted) {
      const type = (path === undefined ? undefined : target.procedures[0]?.type) ?? 'unknown';
      reportError({ error, path, type, input, ctx, request });
    }
    return respond(error, context, headers, declared, places);
  };
}

/** Converts the rejection of malformed HTTP by an adapter to a response in the format of REST errors. */
export function rejectionResponse(
  format: ErrorFormat,
  context: RequestContext,
  { status, code, message }: HttpRejection,
): OutgoingResponse {
  const shown = restError(new RestStatusError(code, status, message));
  if (status === 414) context.limit = 'url-bytes';
  if (status === 431) context.limit = 'header-bytes';
  const type: Header = ['content-type', format.contentType];
  return new OutgoingResponse(status, [type], JSON.stringify(format.body(shown)));
}

/** An error of a REST request with a status that has no tRPC code. */
export class RestStatusError extends TRPCError {
  readonly restCode: string;
  readonly status: number;

  constructor(restCode: string, status: number, message: string) {
    super({ code: 'BAD_REQUEST', message });
    this.restCode = restCode;
    this.status = status;
  }
}

export const bodyTooLarge = (message: string): LimitError =>
  new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message });

/** Creates the error of a call whose client disconnected. */
export const clientClosedError = (cause: unknown): TRPCError =>
  new TRPCError({ code: 'CLIENT_CLOSED_REQUEST', message: 'The client disconnected.', cause });

/** Converts an error while receiving a body: 413 for a body that is too large, otherwise `CLIENT_CLOSED_REQUEST`. */
export const receiveError = (cause: unknown): TRPCError =>
  cause instanceof BodyTooLargeError ? bodyTooLarge(cause.message) : clientClosedError(cause);

/** @throws if the data of a declared error does not match its schema */
function restError(error: TRPCError, declared?: ErrorDefinitions, places?: Places): RestError {
  const shown = declared && formattedError(error, declared);
  if (shown) return { ...shown, issues: [], error };
  const isStatusError = error instanceof RestStatusError;
  const code = isStatusError ? error.restCode : error.code;
  const issues = withPlaces(issuesOf(error), places);
  const message = issues.length > 0 ? formatIssues(issues) : clientMessage(error);
  const status = isStatusError ? error.status : getHTTPStatusCodeFromError(error);
  return { code, message, status, isDeclared: false, data: undefined, issues, error };
}

const withPlaces = (issues: readonly InputIssue[], places: Places | undefined) =>
  places === undefined || places.size === 0
    ? issues
    : issues.map((issue) => ({ ...issue, place: places.get(issue.path[0] ?? '') }));

/** The type of an error that is not in the gateway's `errorFormat`. */
const jsonType: readonly Header[] = [['content-type', 'application/json']];

const internalErrorBody = JSON.stringify({
  code: 'INTERNAL_SERVER_ERROR',
  message: codeMessage('INTERNAL_SERVER_ERROR'),
  status: 500,
});

/** Converts bigints, such as the bounds in issues, to strings: `JSON.stringify` throws for them. */
const bigintsAsText = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** Returns the value of `Allow` for a path with these methods. Every path has `OPTIONS`. */
export const allowOf = (methods: ReadonlyMap<string, unknown>): string =>
  [...methods.keys(), 'OPTIONS'].join(', ');

/** Responds to a method that a path does not support: 405 with `Allow` (RFC 9110 §15.5.6). */
export function methodNotAllowed(
  methods: ReadonlyMap<string, unknown>,
  errorResponse: ErrorResponse,
  context: RequestContext,
): OutgoingResponse {
  const allow = allowOf(methods);
  const error = new TRPCError({
    code: 'METHOD_NOT_SUPPORTED',
    message: `The method is not allowed at this path. Use one of ${allow}.`,
  });
  return errorResponse(error, context, [['allow', allow]]);
}
