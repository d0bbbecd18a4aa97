import type { TRPCError } from '@trpc/server';
import type { MaybePromise } from '../http/maybePromise.ts';
import type { OutgoingResponse } from '../http/outgoingResponse.ts';
import type { HttpRequest } from '../http/request.ts';
import type { LimitError } from '../procedures/limitError.ts';
import type { RequestScope } from './requestScope.ts';
import type { HeaderSource } from './scheme.ts';

/** The properties of a request that its protocol reads for the policies. */
export interface Target {
  /** The number of calls in the request, at least 1. */
  readonly callCount: number;
  /** The cost of the calls for the rate limit. Default: `callCount`. */
  readonly cost?: number;
  /** Whether all its procedures are served without a credential (`protect: false`). */
  readonly isPublic: boolean;
  /** Where credentials are read. Default: the request's headers. */
  readonly credentials?: HeaderSource | undefined;
  /** Whether it opens a WebSocket, which can change state despite the method `GET`. */
  readonly isSocket?: boolean;
}

/** A policy applies to the requests of all protocols. `gateway.ts` has the ordered list of policies. */
export interface Policy<Identity> {
  /**
   * Rejects a request as soon as it arrives: before its body is received and before `admit`. Only adapters with sockets
   * call it. It never throws.
   */
  readonly arrive?: (request: HttpRequest) => LimitError | undefined;
  /**
   * Admits a request (`undefined`) or rejects it with an error, before its body is read. It never throws and never
   * rejects.
   */
  readonly admit?: (scope: RequestScope<Identity>, target: Target) => MaybePromise<TRPCError | undefined>;
  /** Modifies a response, for example by adding headers. It never throws. */
  readonly complete?: (scope: RequestScope<Identity>, response: OutgoingResponse) => void;
}

/** Runs `arrive` of all policies and returns the first error. `OPTIONS` is never rejected. */
export function arrive<Identity>(
  policies: readonly Policy<Identity>[],
  request: HttpRequest,
): LimitError | undefined {
  let rejection: LimitError | undefined;
  for (const policy of policies) rejection ??= policy.arrive?.(request);
  // Serving a preflight costs as much as rejecting it, and a page cannot see why its preflight failed.
  return request.method === 'OPTIONS' ? undefined : rejection;
}

/** Runs `admit` of the policies in order, until one rejects the request. */
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
