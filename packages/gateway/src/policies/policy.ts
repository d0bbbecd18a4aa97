import type { TRPCError } from '@trpc/server';
import type { MaybePromise } from '../http/maybePromise.ts';
import type { ResponseDraft } from '../http/responseDraft.ts';
import type { HttpRequest } from '../http/request.ts';
import type { LimitError } from '../procedures/limitError.ts';
import type { RequestScope } from './requestScope.ts';
import type { HeaderSource } from './scheme.ts';

/** What a protocol reads of a request before any policy looks at it. */
export interface Target {
  /** The number of calls in the request, at least 1. */
  readonly callCount: number;
  /** How many calls they count as for the rate limit. Default: `callCount`. */
  readonly cost?: number;
  /** Whether all its procedures are served without a credential (`protect: false`). */
  readonly isPublic: boolean;
  /** Where credentials are read, if not in the request's headers alone. */
  readonly credentials?: HeaderSource | undefined;
  /** Whether it opens a WebSocket, which may change something whatever the method is. */
  readonly isSocket?: boolean;
}

/** A rule for requests of every protocol. `gateway.ts` holds the one ordered list of them. */
export interface Policy<Identity> {
  /** Rejects a request before its body has come and before `admit`; only adapters with sockets ask. It never throws. */
  readonly arrive?: (request: HttpRequest) => LimitError | undefined;
  /**
   * Decides before anything else of a request is read: `undefined` admits it, an error is its response.
   * It never throws and never rejects.
   */
  readonly admit?: (scope: RequestScope<Identity>, target: Target) => MaybePromise<TRPCError | undefined>;
  /** Completes a response, such as by headers. It never throws. */
  readonly complete?: (scope: RequestScope<Identity>, response: ResponseDraft) => void;
}

/** Why a request is rejected before its body has come; `OPTIONS` never is. */
export function arrive<Identity>(
  policies: readonly Policy<Identity>[],
  request: HttpRequest,
): LimitError | undefined {
  let rejection: LimitError | undefined;
  for (const policy of policies) rejection ??= policy.arrive?.(request);
  // A preflight costs what its rejection would, and a page whose preflight fails does not see why.
  return request.method === 'OPTIONS' ? undefined : rejection;
}

/** Asks the policies in their order, up to the first that rejects the request. */
export function admit<Identity>(
  policies: readonly Policy<Identity>[],
  scope: RequestScope<Identity>,
  target: Target,
  from = 0,
): MaybePromise<TRPCError | undefined> {
  for (let at = from; at < policies.length; at += 1) {
    const rejection = policies[at]?.admit?.(scope, target);
    if (rejection instanceof Promise) {
      return rejection.then((error) => error ?? admit(policies, scope, target, at + 1));
    }
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}
