import type { TRPCError } from '@trpc/server';
import { mapMaybePromise, type MaybePromise } from '../http/maybePromise.ts';
import type { HttpRequest } from '../http/request.ts';
import { requirePositiveIntegers } from './limits.ts';
import type { ClientAddress } from './clientAddress.ts';
import { clientError } from '../procedures/clientError.ts';
import { failureOf } from '../procedures/execute.ts';
import { GatewayError } from '../procedures/gatewayError.ts';
import { LimitError } from '../procedures/limitError.ts';
import type { Procedure } from '../procedures/procedures.ts';
import type { Policy } from './policy.ts';
import type { RequestScope } from './requestScope.ts';
import type { State, Taken } from './state.ts';
import { createSharedTokenBuckets, createTokenBuckets } from './tokenBuckets.ts';

/** The caller that `RateLimitOptions.key` names. */
export interface Caller<Identity> {
  /** What the scheme's `verify` returned. */
  readonly identity: Identity | undefined;
  readonly request: HttpRequest;
}

/** A bucket of `requests` calls per caller that is full again after `windowSeconds`. */
export interface RateLimitOptions<Identity> {
  readonly requests: number;
  readonly windowSeconds: number;
  /**
   * The key of the caller's bucket. Default: the credential; without one, the client's address (`trustProxy`).
   */
  readonly key?: (caller: Caller<Identity>) => string;
  /**
   * Where calls are counted that processes count together. While it cannot be reached, each process counts for itself.
   * Default: in this process alone.
   */
  readonly state?: State;
}

/** Counts calls of a caller. */
export interface RateLimit<Identity> extends Policy<Identity> {
  /**
   * Counts calls by what they cost; returns an error where the caller has made too many, or cannot be named. Adds the `RateLimit` headers to
   * the scope. It never throws and never rejects.
   */
  count(scope: RequestScope<Identity>, cost: number, calls?: number): MaybePromise<TRPCError | undefined>;
}

/** @throws {GatewayError} a line for each procedure that costs more than a full bucket holds */
export function requireCosts(procedures: readonly Procedure[], requests: number): void {
  const problems = procedures
    .filter(({ rateLimitCost }) => rateLimitCost > requests)
    .map(
      ({ path, rateLimitCost }) =>
        `The procedure ${path} has rateLimitCost: ${rateLimitCost}, and rateLimit allows ${requests} calls: it could never be called. Lower the cost or raise rateLimit.requests.`,
    );
  if (problems.length > 0) throw new GatewayError(problems.join('\n'));
}

/**
 * A rate limit with the `RateLimit` and `RateLimit-Policy` headers of IETF httpapi draft-ietf-httpapi-ratelimit-headers-10.
 * @throws {GatewayError} for an invalid number of requests or seconds
 */
export function createRateLimit<Identity>(
  { requests, windowSeconds, key, state }: RateLimitOptions<Identity>,
  clientAddress: ClientAddress,
): RateLimit<Identity> {
  requirePositiveIntegers('rateLimit', { requests, windowSeconds });
  const windowMs = windowSeconds * 1000;
  const take = state
    ? createSharedTokenBuckets('rateLimit', state, { size: requests, windowMs })
    : createTokenBuckets(requests, windowMs);
  const policy = `"default";q=${requests};w=${windowSeconds}`;
  const ownKey = ({ credential, request, scheme }: RequestScope<Identity>) =>
    credential === undefined
      ? `address ${clientAddress(request)}`
      : `credential ${scheme?.name} ${credential}`;

  function count(
    scope: RequestScope<Identity>,
    cost: number,
    calls = cost,
  ): MaybePromise<TRPCError | undefined> {
    const { identity, request } = scope;
    let caller: string;
    try {
      caller = key?.({ identity, request }) ?? ownKey(scope);
    } catch (cause) {
      return clientError(failureOf(cause).error);
    }
    return mapMaybePromise(take(caller, cost), (taken) => response(scope, taken, cost, calls));
  }

  function response(
    scope: RequestScope<Identity>,
    { isTaken, left, waitMs, fullMs }: Taken,
    cost: number,
    calls: number,
  ): TRPCError | undefined {
    scope.headers = [
      ['ratelimit-policy', policy],
      ['ratelimit', `"default";r=${left};t=${Math.ceil(fullMs / 1000)}`],
    ];
    if (isTaken) return undefined;
    return new LimitError('rate', {
      code: 'TOO_MANY_REQUESTS',
      message:
        cost > requests
          ? `A batch of ${calls} calls${cost === calls ? '' : ` that count as ${cost}`} is more than the rate limit of ${requests} calls in ${windowSeconds} s ever allows.`
          : `The rate limit is ${requests} calls in ${windowSeconds} s. Try again later.`,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });
  }

  return {
    count,
    admit: (scope, { callCount, cost = callCount }) => count(scope, cost, callCount),
  };
}
