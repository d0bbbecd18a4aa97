import { policySteps, type Policy, type PolicyContext, type PolicySteps } from '../calls/policy.ts';
import type { ProtocolName, RequestContext, RequestPolicy } from '../calls/requestContext.ts';
import type { OutgoingResponse, PolicyResponse } from '../http/response.ts';

/** The policies of a gateway, by the moment at which they run. */
export interface RequestPolicies {
  /** The policies that admit the requests of each protocol: the gateway's own, and those of the service. */
  readonly admitting: Readonly<Record<ProtocolName, readonly RequestPolicy[]>>;
  /** The policies that admit a request to open a WebSocket, before its credential is known. */
  readonly openingSockets: readonly RequestPolicy[];
  /** The policies that admit a WebSocket once its credential is known. */
  readonly admittingSockets: readonly RequestPolicy[];
  /** The gateway's own policies that complete responses, synchronously and without throwing. */
  readonly completing: readonly RequestPolicy[];
  /** The policies of the service, which may write to `data` of a request; `undefined` without any. */
  readonly ofService: PolicySteps<Policy> | undefined;
}

/** Arranges policies by moment: `ofTools` (the gateway's, for MCP alone), its `own`, then `ofService`. */
export function arrangePolicies(
  own: readonly RequestPolicy[],
  ofTools: readonly RequestPolicy[],
  ofService: readonly Policy[],
): RequestPolicies {
  const { admitting, early } = policySteps<RequestContext, OutgoingResponse>([...own, ...ofService]);
  return {
    admitting: {
      rest: admitting,
      trpc: admitting,
      // A policy of the service sees the tool of a call, which may be known only when the message is read.
      mcp: [...ofTools, ...admitting.filter((policy) => policy.before ?? own.includes(policy))],
      other: early,
    },
    openingSockets: early,
    admittingSockets: admitting.slice(early.length),
    completing: own.filter((policy) => policy.complete),
    ofService: ofService.length > 0 ? policySteps<PolicyContext, PolicyResponse>(ofService) : undefined,
  };
}
