import type { TRPCError } from '@trpc/server';
import { admit, type Policy, type PolicySteps, type Target } from '../calls/policy.ts';
import type { RequestContext } from '../calls/requestContext.ts';
import { mapMaybePromise, type MaybePromise } from '../http/maybePromise.ts';
import type { RateLimit } from './rateLimit.ts';

/**
 * Admits a message that was read from the body of a request. Returns the error that rejects it, if any.
 * @param target what the message calls; `undefined` if that is what the head of its request named
 */
export type AdmitMessage = (
  context: RequestContext,
  target: Target | undefined,
) => MaybePromise<TRPCError | undefined>;

/**
 * Creates the function that admits a message whose request was admitted without the policies of the service: they see
 * the tool that it calls. A tool that the head did not name takes its cost, of which the request has paid one token.
 */
export function createMessageAdmission(
  rateLimit: Pick<RateLimit<unknown>, 'count'> | undefined,
  servicePolicies: PolicySteps<Policy> | undefined,
): AdmitMessage {
  const policies = servicePolicies?.admitting.slice(servicePolicies.early.length) ?? [];
  return (context, target = context.target) => {
    const cost = context.target === target ? 0 : (target.cost ?? 1) - 1;
    context.target = target;
    const counted = cost > 0 ? rateLimit?.count(context, cost) : undefined;
    return mapMaybePromise(counted, (rejection) => rejection ?? admit(policies, context));
  };
}
