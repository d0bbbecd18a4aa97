import { TRPCError } from '@trpc/server';
import { formatValue } from '../http/formatValue.ts';
import { requireSync } from '../http/hooks.ts';
import { GatewayError } from '../checks/gatewayError.ts';
import type { Procedure } from '../procedures/procedure.ts';
import { policyError } from '../calls/policy.ts';
import type { RequestPolicy, RequestContext } from '../calls/requestContext.ts';
import type { Scheme } from '../calls/scheme.ts';

/** Returns an error if the caller's credential lacks a scope. It never throws. */
export function scopeRejection(context: RequestContext, scopes: readonly string[]): TRPCError | undefined {
  const { identity, scheme } = context;
  let missing: readonly string[];
  try {
    const granted = grantedScopes(scheme, identity);
    missing = scopes.filter((each) => !granted.includes(each));
  } catch (cause) {
    return policyError(cause);
  }
  if (missing.length === 0) return undefined;
  context.requiredScopes = new Set([...(context.requiredScopes ?? []), ...scopes]);
  return new TRPCError({
    code: 'FORBIDDEN',
    message: `The ${scheme?.noun ?? 'credential'} does not have the required ${missing.length === 1 ? 'scope' : 'scopes'} ${missing.join(' ')}.`,
  });
}

/** @throws {TypeError} if `scopes` returned no array: `includes` of a string would match parts of scopes */
export function grantedScopes<Identity>(
  scheme: Scheme<Identity> | undefined,
  identity: Identity,
): readonly string[] {
  const granted: unknown =
    requireSync(scheme?.scopes?.(identity), 'scopes of the scheme ', scheme?.name) ?? [];
  if (Array.isArray(granted)) return granted as readonly string[];
  throw new TypeError(
    `scopes of the scheme "${scheme?.name}" returned ${formatValue(granted)}; it must return an array, such as ['pets:read'].`,
  );
}

/** Adds the challenge to a 403 for a missing scope (RFC 6750 §3.1), and to a batch with a call that lacks a scope. */
export const scopesPolicy: RequestPolicy = {
  complete({ requiredScopes, scheme }, { headers, status }) {
    if (requiredScopes === undefined || (status !== 403 && status !== 207)) return;
    const scope = [...requiredScopes].join(' ');
    const challenge = scheme?.challenge({ error: 'insufficient_scope', scope });
    if (challenge !== undefined) headers.push(['www-authenticate', challenge]);
  },
};

/** Whether an identity has lost a scope since its stream or WebSocket started. */
export function hasLostScopes<Identity>(scheme: Scheme<Identity>, before: Identity, now: Identity): boolean {
  const granted = grantedScopes(scheme, now);
  return grantedScopes(scheme, before).some((each) => !granted.includes(each));
}

/** Returns all required scopes, sorted. @throws {GatewayError} if some are required and no scheme has any */
export function allScopes(procedures: readonly Procedure[], schemes: readonly Scheme[]): readonly string[] {
  const scoped = procedures.filter(({ scopes }) => scopes !== undefined);
  if (scoped.length > 0 && !schemes.some(({ scopes }) => scopes)) {
    const paths = scoped.map(({ path }) => `"${path}"`).join(', ');
    const reason = 'require scopes, but no authentication scheme returns the scopes of an identity';
    const problems = scoped.map(({ path }) => {
      const line = `Procedure "${path}": it requires scopes, but no authentication scheme returns the scopes of an identity.`;
      return { procedure: path, part: 'metadata', line } as const;
    });
    throw new GatewayError(`${paths} ${reason}. Add scopes: (identity) => […] to one of them.`, { problems });
  }
  return [...new Set(scoped.flatMap(({ scopes = [] }) => scopes))].toSorted();
}
