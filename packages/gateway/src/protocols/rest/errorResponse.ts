import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { ResponseDraft } from '../../http/responseDraft.ts';
import type { Header } from '../../http/response.ts';
import type { ErrorFormat, RestError } from '../../openapi/errorFormat.ts';
import type { Place } from '../../openapi/places.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import { clientMessage, codeMessage } from '../../procedures/clientError.ts';
import type { ErrorDefinitions } from '../../procedures/declareErrors.ts';
import { formatIssues, issuesOf, type InputIssue } from '../../procedures/inputError.ts';
import { LimitError, retryAfterOf } from '../../procedures/limitError.ts';
import { shownError } from '../../procedures/shownError.ts';

type Places = ReadonlyMap<PropertyKey, Place>;

export type ErrorResponse = ReturnType<typeof createErrorResponse>;

/**
 * Makes the REST response of an error: the status follows from tRPC's code, or from what the procedure declares, and the
 * body from the format. Unexpected errors (5xx) and limits are recorded in the scope.
 */
export function createErrorResponse(format: ErrorFormat) {
  const shared: readonly Header[] = [['content-type', format.contentType]];
  /**
   * @param declared the errors that the procedure declares
   * @param places where properties of the input travel, which its issues then say
   */
  return (
    error: TRPCError,
    scope: RequestScope,
    headers: readonly Header[] = [],
    declared?: ErrorDefinitions,
    places?: Places,
  ): ResponseDraft => {
    let shown: RestError;
    let body: string;
    try {
      shown = restError(error, declared, places);
      body = JSON.stringify(format.body(shown), shown.issues.length > 0 ? bigintsAsText : undefined);
    } catch (cause) {
      // The format is the service's own, and failed; or the data of an error does not fit what is declared.
      scope.error = cause;
      return new ResponseDraft(500, headers.slice(), internalError, [['content-type', 'application/json']]);
    }
    const response = new ResponseDraft(shown.status, headers.slice(), body, shared);
    const retryAfterSeconds = retryAfterOf(error, shown.status);
    if (retryAfterSeconds !== undefined) response.headers.push(['retry-after', String(retryAfterSeconds)]);
    if (error instanceof LimitError) scope.limit = error.limit;
    else if (shown.status >= 500) scope.error = error;
    return response;
  };
}

/** An error of a REST request whose status has no code of tRPC's. */
export class RestStatusError extends TRPCError {
  readonly restCode: string;
  readonly status: number;

  constructor(restCode: string, status: number, message: string) {
    super({ code: 'BAD_REQUEST', message });
    this.restCode = restCode;
    this.status = status;
  }
}

/** @throws where the data of a declared error does not fit its schema */
function restError(
  error: TRPCError,
  declared: ErrorDefinitions | undefined,
  places: Places | undefined,
): RestError {
  const shown = declared && shownError(error, declared);
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

const code = 'INTERNAL_SERVER_ERROR';
const internalError = JSON.stringify({ code, message: codeMessage(code), status: 500 });

/** An issue may hold the bound of a bigint, which JSON.stringify throws at. */
const bigintsAsText = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
