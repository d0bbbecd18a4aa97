import type { TRPCError } from '@trpc/server';
import { mapMaybePromise, type MaybePromise } from '../http/maybePromise.ts';
import type { Header } from '../http/response.ts';
import type { ClientAddress } from '../calls/clientAddress.ts';
import { failureOf } from '../procedures/execute.ts';
import { LimitError } from '../procedures/limitError.ts';
import type { RequestPolicy, RequestContext } from '../calls/requestContext.ts';
import { callerKey, type Caller } from './caller.ts';
import type { State, TakeResult } from '../state/sharedState.ts';
import { createSharedTokenBuckets } from '../state/tokenBuckets.ts';

/** A token bucket per caller: it allows `calls` calls, and is full again after `windowMs` without calls. */
export interface RateLimitOptions<Identity> {
  /** The size of the bucket, in calls. A positive integer. */
  readonly calls: number;
  /** How long an empty bucket takes to fill, in milliseconds. A positive integer. */
  readonly windowMs: number;
  /**
   * Returns the key of the caller's bucket, or `undefined` for the default: the credential, or the client's address
   * (`trustProxy`) without one. A key never equals a default one. It must be synchronous: a promise is a 500.
   * @example
   * key: ({ identity }) => identity?.id
   */
  readonly key?: (caller: Caller<Identity>) => string | undefined;
}

/** A rate limit for the calls of each caller. */
export interface RateLimit<Identity> extends RequestPolicy<Identity> {
  /**
   * Takes the cost of calls and sets the `RateLimit` header. Returns an error if the bucket has too few tokens or
   * `key` throws; of a batch, calls beyond the tokens are in `rejectedCalls`. It never throws or rejects.
   */
  count(context: RequestContext<Identity>, cost: number): MaybePromise<TRPCError | undefined>;
}

/** IETF draft-ietf-httpapi-ratelimit-headers-11; its `t` is the time until one more call is left. */
export function createRateLimit<Identity>(
  { calls, windowMs, key }: RateLimitOptions<Identity>,
  clientAddress: ClientAddress,
  state?: State,
): RateLimit<Identity> {
  const take = createSharedTokenBuckets('rateLimit', state, { size: calls, windowMs });
  const msPerCall = windowMs / calls;
  const policyHeader: Header = ['ratelimit-policy', `"default";q=${calls};w=${Math.ceil(windowMs / 1000)}`];

  function count(context: RequestContext<Identity>, cost: number): MaybePromise<TRPCError | undefined> {
    let caller: string;
    try {
      caller = callerKey(context, key, 'rateLimit.key') ?? `address ${clientAddress(context.request)}`;
    } catch (cause) {
      return failureOf(cause).error;
    }
    return mapMaybePromise(take(caller, cost), (taken) =>
      taken.isTaken || context.target.callCount === 1
        ? applyResult(context, taken, cost)
        : admitPart(context, caller, taken, cost),
    );
  }

  /** Admits the calls of a batch for which the tokens left suffice, in their order, and rejects the others. */
  function admitPart(
    context: RequestContext<Identity>,
    caller: string,
    taken: TakeResult,
    cost: number,
  ): MaybePromise<TRPCError | undefined> {
    const { procedures } = context.target;
    const rejected: number[] = [];
    let part = 0;
    for (const [index, procedure] of procedures.entries()) {
      const own = procedure?.rateLimitCost ?? 1;
      if (part + own <= taken.left) part += own;
      else rejected.push(index);
    }
    if (rejected.length === procedures.length) return applyResult(context, taken, cost);
    return mapMaybePromise(take(caller, part), (partTaken) => {
      const error = applyResult(context, partTaken, part);
      // Other requests have taken the tokens meanwhile.
      if (error) return error;
      const missing = Math.min(cost - part, calls);
      const late = exceeded(cost, partTaken.fullMs - (calls - missing) * msPerCall);
      context.rejectedCalls = new Map(rejected.map((index) => [index, late]));
      return undefined;
    });
  }

  function applyResult(
    context: RequestContext<Identity>,
    { isTaken, left, waitMs, fullMs }: TakeResult,
    cost: number,
  ): TRPCError | undefined {
    const error = isTaken ? undefined : exceeded(cost, waitMs);
    const nextMs = left < calls ? fullMs - (calls - left - 1) * msPerCall : 0;
    // Both times are rounded up. Clients that obey `Retry-After` must not be too early for `t` (§6 of the draft).
    const nextSeconds = Math.min(Math.ceil(nextMs / 1000), error?.retryAfterSeconds ?? Infinity);
    context.rateLimit = `"default";r=${left};t=${nextSeconds}`;
    return error;
  }

  /** @param waitMs the time until the bucket has the missing tokens */
  const exceeded = (cost: number, waitMs: number): LimitError =>
    new LimitError('rate', {
      code: 'TOO_MANY_REQUESTS',
      message:
        cost > calls
          ? `The request counts as ${cost} calls, but the rate limit is ${calls} calls in ${windowMs / 1000} s. Send fewer calls in a batch.`
          : `The rate limit of ${calls} calls in ${windowMs / 1000} s is exceeded. Try again later.`,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });

  return {
    count,
    admit: (context) => count(context, context.target.cost ?? context.target.callCount),
    complete({ rateLimit }, { headers }) {
      if (rateLimit !== undefined) headers.push(policyHeader, ['ratelimit', rateLimit]);
    },
  };
}
