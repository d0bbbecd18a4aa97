import { GatewayError } from './gatewayError.ts';

/** Matches a scope-token (RFC 6749 §3.3). */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * Reads the scopes that a procedure's metadata requires.
 * @returns `undefined` if it requires none
 * @throws {GatewayError} for an invalid scope, and for scopes that would not be enforced: in `openapi`, or with
 *   `protect: false`
 */
export function readScopes(path: string, meta: unknown): readonly string[] | undefined {
  const { scopes, openapi = {} } = (meta ?? {}) as {
    readonly scopes?: unknown;
    readonly openapi?: { readonly protect?: boolean; readonly scopes?: unknown };
  };
  if (openapi.scopes !== undefined) {
    throw new GatewayError(
      `Procedure "${path}" has scopes in meta.openapi, where they would apply only to REST. Write meta({ scopes: […], openapi: { … } }).`,
    );
  }
  if (scopes === undefined) return undefined;
  if (!Array.isArray(scopes)) {
    throw new GatewayError(
      `Procedure "${path}" has scopes that are not an array. Write scopes: ['pets:write'].`,
    );
  }
  for (const scope of scopes) {
    if (typeof scope === 'string' && scopeToken.test(scope)) continue;
    throw new GatewayError(
      `Procedure "${path}" requires the scope ${JSON.stringify(scope)}; it must be printable ASCII without spaces, quotes and backslashes, such as pets:write (RFC 6749 §3.3).`,
    );
  }
  if (scopes.length > 0 && openapi.protect === false) {
    throw new GatewayError(
      `Procedure "${path}" requires scopes, but has protect: false, so it is served without a credential. Remove one of them.`,
    );
  }
  return scopes.length === 0 ? undefined : [...new Set(scopes as string[])];
}
