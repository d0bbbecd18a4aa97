import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { OutgoingResponse } from '../../http/outgoingResponse.ts';
import type { Header } from '../../http/response.ts';
import type { HttpRejection } from '../../http/service.ts';
import type { ErrorFormat, RestError } from '../../operations/errorFormat.ts';
import type { PropertyPlace } from '../../operations/propertyPlaces.ts';
import type { ReportError } from '../../calls/reportError.ts';
import { boundedJson, errorTooLarge, maxErrorBytes } from '../../calls/responseBytes.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { clientMessage } from '../../procedures/clientError.ts';
import type { ErrorDefinitions } from '../../procedures/declareErrors.ts';
import { codeMessage } from '../../procedures/errorCodes.ts';
import { formatIssues, issuesOf, type InputIssue } from '../../procedures/inputError.ts';
import { LimitError, retryAfterSecondsOf } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import { formattedError } from '../../procedures/formattedError.ts';

type Places = ReadonlyMap<PropertyKey, PropertyPlace>;

export type ErrorResponse = ReturnType<typeof errorResponseOf>;

/**
 * Creates the function that converts errors to REST responses.
 * @param reportError receives each error before its response, with the type of the called procedure
 */
export function createErrorResponse(
  format: ErrorFormat,
  reportError: ReportError | undefined,
  procedures: readonly Procedure[],
  maxResponseBytes: number,
): ErrorResponse {
  const errorResponse = errorResponseOf(format, maxResponseBytes);
  if (reportError === undefined) return errorResponse;
  const types = new Map(procedures.map(({ path, type }) => [path, type]));
  return (error, context, ...others) => {
    const { ctx, input, operation: path, request } = context;
    const type = types.get(path ?? '') ?? 'unknown';
    // Not if the client disconnected: no response is sent then.
    if (!request.isAborted) reportError({ error, path, type, input, ctx, request });
    return errorResponse(error, context, ...others);
  };
}

/**
 * Converts an error to a REST response. The status is that of the declared error or of tRPC's code, the body that of
 * the format. Unexpected errors (5xx) and limits are recorded in the context.
 */
function errorResponseOf(format: ErrorFormat, maxResponseBytes: number) {
  const shared: readonly Header[] = [['content-type', format.contentType]];
  /**
   * @param declared the declared errors of the procedure
   * @param places the parts of the request that carry properties of the input, to name them in issues
   */
  function respond(
    error: TRPCError,
    context: RequestContext,
    headers: readonly Header[] = [],
    declared?: ErrorDefinitions,
    places?: Places,
  ): OutgoingResponse {
    let shown: RestError;
    let body: string;
    try {
      shown = restError(error, declared, places);
      const replacer = shown.issues.length > 0 ? bigintsAsText : undefined;
      body = boundedJson(format.body(shown), maxErrorBytes(maxResponseBytes), replacer) as string;
    } catch (cause) {
      const isAboutSize = error instanceof LimitError && error.limit === 'response-bytes';
      if (cause instanceof LimitError && !isAboutSize)
        return respond(errorTooLarge(maxResponseBytes), context, headers);
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
  return respond;
}

/** Converts the rejection of malformed HTTP by an adapter to a response in the format of REST errors. */
export function rejectionResponse(
  format: ErrorFormat,
  context: RequestContext,
  { status, code, message }: HttpRejection,
): OutgoingResponse {
  const shown = {
    code,
    message,
    status,
    isDeclared: false,
    data: undefined,
    issues: [],
    error: undefined,
  };
  if (status === 414) context.limit = 'url-bytes';
  if (status === 431) context.limit = 'header-bytes';
  return new OutgoingResponse(
    status,
    [['content-type', format.contentType]],
    JSON.stringify(format.body(shown)),
  );
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

/** @throws if the data of a declared error does not match its schema */
function restError(
  error: TRPCError,
  declared: ErrorDefinitions | undefined,
  places: Places | undefined,
): RestError {
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

const internalErrorCode = 'INTERNAL_SERVER_ERROR';
const internalErrorBody = JSON.stringify({
  code: internalErrorCode,
  message: codeMessage(internalErrorCode),
  status: 500,
});

/** Converts bigints, such as the bounds in issues, to strings: `JSON.stringify` throws for them. */
const bigintsAsText = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** Returns the value of `Allow` for a path with these methods. `GET` implies `HEAD`, and every path has `OPTIONS`. */
export function allowOf(methods: ReadonlyMap<string, unknown>): string {
  const served = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...served, 'OPTIONS'].join(', ');
}

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
