import type { TRPCError } from '@trpc/server';
import type { MaybePromise } from '../http/maybePromise.ts';
import type { OutgoingResponse } from '../http/response.ts';
import type { Target } from '../calls/policy.ts';
import type { RequestContext } from '../calls/requestContext.ts';

/** Serves the requests below one base path: reads each into procedure calls, and encodes the outcomes. */
export interface Protocol<Named extends Target = Target> {
  /** Parses the head of a request, before any policy runs. It is cheap and never throws. */
  target(context: RequestContext): Named;
  /** Responds to `OPTIONS`, which needs no credential. */
  options(context: RequestContext, target: Named): OutgoingResponse;
  /** Responds to a request that the policies have admitted. It never throws and never rejects. */
  respond(context: RequestContext, target: Named): MaybePromise<OutgoingResponse>;
  /** Responds with the error of a policy. */
  reject(error: TRPCError, context: RequestContext): OutgoingResponse;
}
