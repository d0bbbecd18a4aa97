import type { TRPCError } from '@trpc/server';
import type { MaybePromise } from '../http/maybePromise.ts';
import type { ResponseDraft } from '../http/responseDraft.ts';
import type { HttpRequest } from '../http/request.ts';
import type { Target } from '../policies/policy.ts';
import type { RequestScope } from '../policies/requestScope.ts';

/** How requests below one base path are read into calls, and the outcomes of calls written into responses. */
export interface Protocol<Identity, Named extends Target> {
  /** Reads what the head of a request names, before any policy. It is cheap and never throws. */
  target(request: HttpRequest): Named;
  /** The response to `OPTIONS`, which needs no credential. */
  options(scope: RequestScope<Identity>, target: Named): ResponseDraft;
  /** Serves a request that the policies admit. It never throws and never rejects. */
  respond(scope: RequestScope<Identity>, target: Named): MaybePromise<ResponseDraft>;
  /** Writes an error of a policy. */
  reject(error: TRPCError, scope: RequestScope<Identity>): ResponseDraft;
}
