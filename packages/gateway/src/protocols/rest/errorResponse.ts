import type { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { ResponseDraft } from '../../http/responseDraft.ts';
import type { Header } from '../../http/response.ts';
import type { ErrorFormat } from '../../openapi/errorFormat.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import { clientMessage, codeMessage } from '../../procedures/clientError.ts';
import { formatIssues, issuesOf } from '../../procedures/inputError.ts';
import { LimitError, retryAfterOf } from '../../procedures/limitError.ts';

export type ErrorResponse = ReturnType<typeof createErrorResponse>;

/**
 * Makes the REST response of an error: the status follows from tRPC's code, the body from the format. Unexpected errors
 * (5xx) and limits are recorded in the scope.
 */
export function createErrorResponse(format: ErrorFormat) {
  const shared: readonly Header[] = [['content-type', format.contentType]];
  return (error: TRPCError, scope: RequestScope, headers: readonly Header[] = []): ResponseDraft => {
    const { code } = error;
    const status = getHTTPStatusCodeFromError(error);
    const issues = issuesOf(error);
    const message = issues.length > 0 ? formatIssues(issues) : clientMessage(error);
    let body: string;
    try {
      const content = format.body({ code, message, status, issues, error });
      body = JSON.stringify(content, issues.length > 0 ? bigintsAsText : undefined);
    } catch (cause) {
      // The format is the service's own, and failed.
      scope.error = cause;
      return new ResponseDraft(500, headers.slice(), internalError, [['content-type', 'application/json']]);
    }
    const response = new ResponseDraft(status, headers.slice(), body, shared);
    const retryAfterSeconds = retryAfterOf(error);
    if (retryAfterSeconds !== undefined) response.headers.push(['retry-after', String(retryAfterSeconds)]);
    if (error instanceof LimitError) scope.limit = error.limit;
    else if (status >= 500) scope.error = error;
    return response;
  };
}

const code = 'INTERNAL_SERVER_ERROR';
const internalError = JSON.stringify({ code, message: codeMessage(code), status: 500 });

/** An issue may hold the bound of a bigint, which JSON.stringify throws at. */
const bigintsAsText = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
