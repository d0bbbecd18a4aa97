import { TRPCError } from '@trpc/server';
import { formatValue } from '../http/formatValue.ts';
import { clientError } from '../procedures/clientError.ts';
import { failureOf } from '../procedures/execute.ts';
import { GatewayError } from '../procedures/gatewayError.ts';
import type { Procedure } from '../procedures/procedures.ts';
import type { Policy } from './policy.ts';
import type { RequestScope } from './requestScope.ts';
import type { Scheme } from './scheme.ts';

/** Why the caller may not call a procedure: its credential lacks a scope. It never throws. */
export function scopeRejection(
  scope: RequestScope,
  { scopes }: Pick<Procedure, 'scopes'>,
): TRPCError | undefined {
  if (scopes === undefined) return undefined;
  const { identity, scheme } = scope;
  let missing: readonly string[];
  try {
    const granted = grantedScopes(scheme, identity);
    missing = scopes.filter((each) => !granted.includes(each));
  } catch (cause) {
    return clientError(failureOf(cause).error);
  }
  if (missing.length === 0) return undefined;
  scope.requiredScopes = new Set([...(scope.requiredScopes ?? []), ...scopes]);
  return new TRPCError({
    code: 'FORBIDDEN',
    message: `The ${scheme?.noun ?? 'credential'} lacks the scope ${missing.join(' ')}.`,
  });
}

/** @throws {TypeError} for a text, such as the claim of a token as it is: `includes` would find parts of a scope in it */
function grantedScopes<Identity>(
  scheme: Scheme<Identity> | undefined,
  identity: Identity,
): readonly string[] {
  const granted: unknown = scheme?.scopes?.(identity) ?? [];
  if (Array.isArray(granted)) return granted as readonly string[];
  throw new TypeError(
    `scopes of the scheme "${scheme?.name}" returned ${formatValue(granted)}; it must return an array, such as ['pets:read'].`,
  );
}

/** Adds the challenge to responses that are 403 for want of a scope (RFC 6750 §3.1), and to batches that have such calls. */
export const scopesPolicy: Policy<unknown> = {
  complete({ requiredScopes, scheme }, { headers, status }) {
    if (requiredScopes === undefined || (status !== 403 && status !== 207)) return;
    const scope = [...requiredScopes].join(' ');
    const challenge = scheme?.challenge({ error: 'insufficient_scope', scope });
    if (challenge !== undefined) headers.push(['www-authenticate', challenge]);
  },
};

/** Whether an identity has lost a scope since a stream or a WebSocket began with its credential. */
export function hasLostScopes<Identity>(scheme: Scheme<Identity>, before: Identity, now: Identity): boolean {
  const granted = grantedScopes(scheme, now);
  return grantedScopes(scheme, before).some((each) => !granted.includes(each));
}

/**
 * Every scope that a procedure requires.
 * @throws {GatewayError} a line for each procedure whose scopes no credential can have
 */
export function allScopes(procedures: readonly Procedure[], schemes: readonly Scheme[]): readonly string[] {
  const scoped = procedures.filter(({ scopes }) => scopes !== undefined);
  if (scoped.length > 0 && !schemes.some(({ scopes }) => scopes)) {
    const why =
      schemes.length === 0
        ? 'createGateway has no authentication: add it'
        : 'no scheme of authentication says which scopes an identity has: give one of them scopes: (identity) => […]';
    throw new GatewayError(
      scoped.map(({ path }) => `The procedure ${path} requires scopes, but ${why}.`).join('\n'),
    );
  }
  return [...new Set(scoped.flatMap(({ scopes = [] }) => scopes))].toSorted();
}
