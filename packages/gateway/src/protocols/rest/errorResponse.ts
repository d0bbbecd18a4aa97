import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { TRPC_ERROR_CODES_BY_KEY, type TRPCErrorShape } from '@trpc/server/rpc';
import { requireSync } from '../../http/hooks.ts';
import { type Header, OutgoingResponse } from '../../http/response.ts';
import type { HttpRejection } from '../../http/service.ts';
import type { ErrorFormat, RestError } from '../../operations/errorFormat.ts';
import type { PropertyPlace } from '../../operations/propertyPlaces.ts';
import { errorOfCall, report, type ReportedError, type ReportError } from '../../calls/reportError.ts';
import { boundedJson, errorTooLarge, maxErrorBytes } from '../../calls/responseBytes.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { clientMessage, codeOf, formattedError } from '../../procedures/clientError.ts';
import type { ErrorDefinitions } from '../../procedures/declareErrors.ts';
import { codeMessage, trpcCodeOf } from '../../procedures/errorCodes.ts';
import { formatIssues, issuesOf, type InputIssue } from '../../procedures/inputError.ts';
import { failureOf } from '../../procedures/execute.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { addRetryAfter, recordError } from '../requestErrors.ts';

type Places = ReadonlyMap<PropertyKey, PropertyPlace>;

/** Details of the response to an error, besides its code and message. */
interface ErrorDetails {
  readonly headers?: readonly Header[] | undefined;
  readonly declared?: ErrorDefinitions | undefined;
  /** The parts of the request that carry properties of the input, to name them in issues. */
  readonly places?: Places | undefined;
}

/** Converts an error to a response in the format of REST errors, and reports it. */
export type ErrorResponse = (
  error: TRPCError,
  context: RequestContext,
  details?: ErrorDetails,
) => OutgoingResponse;

/** Converts the rejection of malformed HTTP by an adapter, or of a policy that states a status, to a response. */
type RejectionResponse = (context: RequestContext, rejection: HttpRejection) => OutgoingResponse;

type ErrorOfCall = Omit<ReportedError<unknown>, 'request'>;

export interface ErrorResponseOptions {
  readonly format: ErrorFormat;
  readonly maxResponseSize: number;
  /** Receives each error before its response. */
  readonly reportError: ReportError | undefined;
  /** Returns an error as tRPC clients receive it. */
  readonly shapeOf: (error: ErrorOfCall) => TRPCErrorShape;
  /** Encodes such an error as a response of tRPC. */
  readonly encodeTrpc: (shape: TRPCErrorShape, context: RequestContext) => string;
}

/**
 * Creates the functions that convert errors to REST responses. The status is that of the declared error or of tRPC's
 * code, the body that of the format. Unexpected errors (5xx) and limits are recorded in the context.
 */
export function createErrorResponses(options: ErrorResponseOptions) {
  const { encodeTrpc, format, maxResponseSize, reportError, shapeOf } = options;
  const shared: readonly Header[] = [['content-type', format.contentType]];
  const bodyOf = (error: RestError) => requireSync(format.body(error), 'errorFormat.body');

  function respond(error: TRPCError, context: RequestContext, details: ErrorDetails): OutgoingResponse {
    const { headers = [] } = details;
    let shown: RestError;
    let body: string;
    try {
      shown = restError(error, shapeOf, context, details);
      const replacer = shown.issues.length > 0 ? bigintsAsText : undefined;
      body = boundedJson(bodyOf(shown), maxErrorBytes(maxResponseSize), replacer) as string;
    } catch (cause) {
      const isAboutSize = error instanceof LimitError && error.limit === 'response-bytes';
      if (cause instanceof LimitError && !isAboutSize) {
        return respond(errorTooLarge(maxResponseSize), context, { headers });
      }
      return brokenFormat(cause, context, headers);
    }
    const response = new OutgoingResponse(shown.status, headers.slice(), body, shared);
    addRetryAfter(response, shown.error, shown.status);
    recordError(error, shown.status, context);
    return response;
  }

  const errorResponse: ErrorResponse = (error, context, details = {}) => {
    report(reportError, error, context);
    return respond(error, context, details);
  };

  const rejectionResponse: RejectionResponse = (context, { status, code, message }) => {
    if (status === 414) context.outcome.limit = 'url-bytes';
    if (status === 431) context.outcome.limit = 'header-bytes';
    try {
      const shown = restError(new RestStatusError(code, status, message), shapeOf, context);
      // In tRPC's format, so that its links give the error to each call of a batch.
      if (context.protocol === 'trpc')
        return new OutgoingResponse(status, jsonType.slice(), encodeTrpc(shown.shape, context));
      return new OutgoingResponse(status, shared.slice(), JSON.stringify(bodyOf(shown)));
    } catch (cause) {
      // Adapters call this outside of any request, where an error would end the process.
      return brokenFormat(cause, context);
    }
  };

  return { errorResponse, rejectionResponse };
}

/** Responds if a custom format has thrown, or the data of an error does not match its declaration. */
function brokenFormat(cause: unknown, context: RequestContext, headers: readonly Header[] = []) {
  context.outcome.error = cause;
  context.outcome.endedWith(codeOf(failureOf(cause).error));
  return new OutgoingResponse(500, headers.slice(), internalErrorBody, jsonType);
}

/** An error of a REST request with another code than tRPC's, or with a status that has no tRPC code. */
export class RestStatusError extends TRPCError {
  readonly restCode: string;
  readonly status: number;

  /** @param options the code of tRPC, if it differs from that of the status, and the cause */
  constructor(
    restCode: string,
    status: number,
    message: string,
    options: { readonly code?: TRPCError['code']; readonly cause?: unknown } = {},
  ) {
    super({ code: trpcCodeOf(status), message, ...options });
    this.restCode = restCode;
    this.status = status;
  }
}

/** @throws if the data of a declared error does not match its schema */
function restError(
  error: TRPCError,
  shapeOf: ErrorResponseOptions['shapeOf'],
  context: RequestContext,
  { declared, places }: ErrorDetails = {},
): RestError {
  const shown = formattedError(error, declared);
  const issues = shown ? [] : withPlaces(issuesOf(error), places);
  const message = issues.length > 0 ? formatIssues(issues) : clientMessage(error);
  const { restCode: code = error.code, status = getHTTPStatusCodeFromError(error) } =
    error instanceof RestStatusError ? error : {};
  const hasTrpcCode = !(error instanceof RestStatusError) || getHTTPStatusCodeFromError(error) === status;
  return {
    ...(shown ?? { code, message, status, isDeclared: false, data: undefined }),
    issues,
    error,
    trpcCode: hasTrpcCode ? error.code : code,
    get shape() {
      const ownData = { code: this.code, httpStatus: this.status };
      try {
        const shape = shapeOf(errorOfCall(error, context));
        return hasTrpcCode ? shape : { ...shape, data: { ...shape.data, ...ownData } };
      } catch (cause) {
        // The router's `errorFormatter` has thrown: it may expect the path or the context of a call.
        context.outcome.error = cause;
        return { code: TRPC_ERROR_CODES_BY_KEY[error.code], message: this.message, data: ownData };
      }
    },
  };
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
  return errorResponse(error, context, { headers: [['allow', allow]] });
}
