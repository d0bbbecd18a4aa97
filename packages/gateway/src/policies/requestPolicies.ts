import { policySteps, type Policy, type PolicyContext } from '../calls/policy.ts';
import type { RequestContext, RequestPolicy } from '../calls/requestContext.ts';
import type { OutgoingResponse, PolicyResponse } from '../http/response.ts';

/** The policies of a gateway, by the moment at which they run. */
export type RequestPolicies = ReturnType<typeof arrangePolicies>;

/** Arranges policies by moment: `ofTools` (the gateway's, for MCP alone), its `own`, then `ofService`. */
export function arrangePolicies(
  own: readonly RequestPolicy[],
  ofTools: readonly RequestPolicy[],
  ofService: readonly Policy[],
) {
  const { admitting, early } = policySteps<RequestContext, OutgoingResponse>([...own, ...ofService]);
  return {
    /** The policies that admit the requests of each protocol: the gateway's own, and those of the service. */
    admitting: {
      rest: admitting,
      trpc: admitting,
      // A policy of the service sees the tool of a call, which may be known only when the message is read.
      mcp: [...ofTools, ...admitting.filter((policy) => policy.before ?? own.includes(policy))],
      other: early,
    },
    /** The policies that admit a request to open a WebSocket, before its credential is known. */
    openingSockets: early,
    /** The policies that admit a WebSocket once its credential is known. */
    admittingSockets: admitting.slice(early.length),
    /** The gateway's own policies that complete responses, synchronously and without throwing. */
    completing: own.filter((policy) => policy.complete),
    /** The policies of the service, which may write to `data` of a request; `undefined` without any. */
    ofService: ofService.length > 0 ? policySteps<PolicyContext, PolicyResponse>(ofService) : undefined,
  };
}
