import type { TRPCError } from '@trpc/server';
import { admit, type Policy, type PolicySteps, type Target } from '../calls/policy.ts';
import type { RequestContext } from '../calls/requestContext.ts';
import { mapMaybePromise, type MaybePromise } from '../http/maybePromise.ts';
import type { RateLimit } from './rateLimit.ts';

/** Returns the error that rejects a message of a body. `head`: the target that the request's head named. */
export type AdmitMessage = (context: RequestContext, head: Target) => MaybePromise<TRPCError | undefined>;

/**
 * Creates the function that admits a message whose request was admitted without the policies of the service: they see
 * the tool that it calls. A tool that the head did not name takes its cost, of which the request has paid one token.
 * @returns `undefined` if neither a policy nor a limit looks at the tool, so that the request is admitted only once
 */
export function createMessageAdmission(
  rateLimit: Pick<RateLimit<unknown>, 'count'> | undefined,
  servicePolicies: PolicySteps<Policy> | undefined,
): AdmitMessage | undefined {
  const policies = servicePolicies?.admitting.slice(servicePolicies.early.length) ?? [];
  if (rateLimit === undefined && policies.length === 0) return undefined;
  return (context, head) => {
    const { target } = context;
    const cost = head === target ? 0 : (target.cost ?? 1) - 1;
    const counted = cost > 0 ? rateLimit?.count(context, cost) : undefined;
    return mapMaybePromise(counted, (rejection) => rejection ?? admit(policies, context));
  };
}
