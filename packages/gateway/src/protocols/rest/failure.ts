import type { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { Answer } from '../../http/answer.ts';
import { clientMessage, codeMessage } from '../../procedures/clientError.ts';
import { LimitError, retryAfterOf } from '../../procedures/limitError.ts';
import type { Header } from '../../http/response.ts';
import type { ErrorFormat } from '../../openapi/errorFormat.ts';
import { formatIssues, issuesOf } from '../../procedures/inputError.ts';

/** Answers an error over REST. */
export type Failure = (error: TRPCError, headers?: readonly Header[]) => Answer;

/** How errors are answered: a status by tRPC's code, a body in the given format. */
export function createFailure(format: ErrorFormat): Failure {
  const shared: readonly Header[] = [['content-type', format.contentType]];
  return (error, extra = []) => {
    const status = getHTTPStatusCodeFromError(error);
    const limited = error instanceof LimitError ? error : undefined;
    const headers: Header[] = extra.slice();
    const retryAfterSeconds = retryAfterOf(error);
    if (retryAfterSeconds !== undefined) headers.push(['retry-after', String(retryAfterSeconds)]);
    const issues = issuesOf(error);
    let body: string;
    try {
      const told = format.body({
        code: error.code,
        message: issues.length > 0 ? formatIssues(issues) : clientMessage(error),
        status,
        issues,
        error,
      });
      // A limit of a bigint is one, which JSON.stringify throws at.
      body = JSON.stringify(told, issues.length > 0 ? bigintsAsText : undefined);
    } catch (cause) {
      return formatFailed(cause, extra);
    }
    const answer = new Answer(status, headers, body, shared);
    if (limited) answer.limit = limited.limit;
    else if (status >= 500) answer.error = error;
    return answer;
  };
}

/** An error format of the user's own that throws: the default one answers in its place. */
function formatFailed(cause: unknown, headers: readonly Header[]): Answer {
  const code = 'INTERNAL_SERVER_ERROR';
  const body = JSON.stringify({ code, message: codeMessage(code), status: 500 });
  const answer = new Answer(500, [...headers], body, [['content-type', 'application/json']]);
  answer.error = cause;
  return answer;
}

const bigintsAsText = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
