import type { Admitted } from './authentication.ts';
import type { HttpRequest } from '../http/request.ts';
import type { Header } from '../http/response.ts';
import { requirePositiveIntegers } from './limits.ts';
import type { ClientAddress } from './clientAddress.ts';
import { LimitError } from '../procedures/limitError.ts';
import { createTokenBuckets } from './tokenBuckets.ts';

/** Whose call it is, for `RateLimitOptions.key`. */
export interface Caller<Identity> {
  /** What `authenticate` returned. */
  readonly identity: Identity | undefined;
  readonly request: HttpRequest;
}

/** How many calls a caller may make: a bucket of `requests` tokens that is full again after `windowSeconds`. */
export interface RateLimitOptions<Identity> {
  readonly requests: number;
  readonly windowSeconds: number;
  /**
   * What has a bucket of its own. Default: the credential; of a caller without one, the client's address (`trustProxy`).
   */
  readonly key?: (caller: Caller<Identity>) => string;
}

/** What a request may do, and what its answer says of the limit. */
export interface Passage {
  readonly refusal: LimitError | undefined;
  readonly headers: readonly Header[];
}

/** Counts so many calls of a caller. */
export type RateLimit<Identity> = (
  request: HttpRequest,
  admitted: Admitted<Identity>,
  calls: number,
) => Passage;

/**
 * A rate limit with the `RateLimit` and `RateLimit-Policy` headers of IETF httpapi draft-ietf-httpapi-ratelimit-headers-10.
 * @throws {GatewayError} for what is no number of requests or seconds
 */
export function createRateLimit<Identity>(
  { requests, windowSeconds, key }: RateLimitOptions<Identity>,
  clientAddress: ClientAddress,
): RateLimit<Identity> {
  requirePositiveIntegers('rateLimit', { requests, windowSeconds });
  const take = createTokenBuckets(requests, windowSeconds * 1000);
  const policy = ['ratelimit-policy', `"default";q=${requests};w=${windowSeconds}`] as const;
  const ownKey = (request: HttpRequest, token: string | undefined) =>
    token === undefined ? `address ${clientAddress(request)}` : `key ${token}`;

  return (request, { identity, token }, calls) => {
    const { isTaken, left, waitMs, fullMs } = take(
      key?.({ identity, request }) ?? ownKey(request, token),
      calls,
    );
    const headers = [policy, ['ratelimit', `"default";r=${left};t=${Math.ceil(fullMs / 1000)}`]] as const;
    if (isTaken) return { refusal: undefined, headers };
    const refusal = new LimitError('rate', {
      code: 'TOO_MANY_REQUESTS',
      message:
        calls > requests
          ? `A batch of ${calls} calls is more than the rate limit of ${requests} calls in ${windowSeconds} s ever allows.`
          : `The rate limit is ${requests} calls in ${windowSeconds} s. Try again later.`,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });
    return { refusal, headers };
  };
}
