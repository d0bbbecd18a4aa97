import { requireSync } from '../http/hooks.ts';
import type { HttpRequest } from '../http/request.ts';
import { policyError } from '../calls/policy.ts';
import type { RequestContext } from '../calls/requestContext.ts';

/** The caller of a request, as `RateLimitOptions.key` and `IdempotencyOptions.caller` receive it. */
export interface Caller<Identity> {
  /** The identity that the scheme's `verify` returned; `undefined` without a valid credential. */
  readonly identity: Identity | undefined;
  readonly request: HttpRequest;
}

/**
 * The key of the service's function, named `option`, or else of the credential; the two are never equal.
 * @returns `undefined` without both
 * @throws {TRPCError} the error of the function, for clients
 */
export function callerKey<Identity>(
  { credential, identity, request, scheme }: RequestContext<Identity>,
  ownKey: ((caller: Caller<Identity>) => string | undefined) | undefined,
  option: 'rateLimit.key' | 'idempotency.caller',
): string | undefined {
  let key: string | undefined;
  try {
    key = ownKey && requireSync(ownKey({ identity, request }), option);
  } catch (cause) {
    throw policyError(cause);
  }
  if (key !== undefined) return `caller ${key}`;
  return credential === undefined ? undefined : `credential ${scheme?.name} ${credential}`;
}
