import type { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import type { Answer, FailedCall } from '../../http/answer.ts';
import { LimitError, retryAfterOf } from '../../procedures/limitError.ts';
import { type Limit } from '../../http/limit.ts';

/** Collects the errors of a request's calls, and reports them with its answer: to the log, and as `Retry-After`. */
export class CallFailures {
  readonly #unexpected: FailedCall[] = [];
  /** The last limit that was met. */
  #limit: Limit | undefined = undefined;
  /** The longest wait that one of the errors names. */
  #retryAfterSeconds: number | undefined = undefined;
  #answer: Answer | undefined = undefined;

  add(error: TRPCError, path: string | undefined): void {
    if (error instanceof LimitError) this.#limit = error.limit;
    else if (getHTTPStatusCodeFromError(error) >= 500) this.#unexpected.push({ error, path });
    const seconds = retryAfterOf(error);
    if (seconds !== undefined) this.#retryAfterSeconds = Math.max(this.#retryAfterSeconds ?? 0, seconds);
    // The head of a stream is out by now; its log line is not.
    if (this.#answer) this.#report(this.#answer);
  }

  /** Reports with this answer what was added, and what will be. */
  follow(answer: Answer): Answer {
    if (this.#retryAfterSeconds !== undefined)
      answer.headers.push(['retry-after', String(this.#retryAfterSeconds)]);
    this.#report(answer);
    this.#answer = answer;
    return answer;
  }

  #report(answer: Answer): void {
    answer.limit = this.#limit;
    answer.error = this.#unexpected.at(-1)?.error;
    answer.failedCalls = this.#unexpected;
  }
}
