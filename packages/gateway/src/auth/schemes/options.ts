import { formatValue } from '../../http/formatValue.ts';
import { memberNames, unknownOptions } from '../../http/unknownOptions.ts';
import { GatewayError } from '../../procedures/gatewayError.ts';
import type { SecurityScheme, Verify } from '../../calls/scheme.ts';

/** Options of every authentication scheme. */
export interface SchemeOptions<Identity> {
  /**
   * Verifies a credential and returns the identity, or a falsy value to reject it with 401. It runs once per request,
   * before the input is read, and about once a second for each open WebSocket or event stream; rejecting the credential
   * then closes them (close code 1008). A thrown `TRPCError` becomes the response, such as `SERVICE_UNAVAILABLE` while
   * the key store is unavailable.
   *
   * Decide by the credential only: streams with the same credential share one check, and `failedAttempts` remembers a
   * rejection for half a second. Checks that depend on the rest of the request belong in `createContext`.
   */
  readonly verify: Verify<Identity>;
  /** Returns the scopes of an identity, for procedures with `scopes` in their metadata. */
  readonly scopes?: (identity: Identity) => readonly string[];
  /** The realm of `WWW-Authenticate`. Default: `api`. */
  readonly realm?: string;
  /**
   * The name of the scheme in the document's `securitySchemes`. It must be unique. Default: the name of the function.
   */
  readonly name?: string;
  /** The entry in the document's `securitySchemes`. Default: derived from the other options. */
  readonly document?: SecurityScheme;
}

export const defaultRealm = 'api';

const commonNames = memberNames<SchemeOptions<unknown>>({
  verify: true,
  scopes: true,
  realm: true,
  name: true,
  document: true,
});

/** Returns the names of all options of a scheme: the common ones and its own. */
export const schemeNames = <Options>(
  own: Record<Exclude<keyof Options, keyof SchemeOptions<unknown>>, true>,
): readonly string[] => [...commonNames, ...Object.keys(own)];

/**
 * Validates options at run time, because JavaScript callers, casts and spreads bypass the types.
 * @throws {GatewayError} with a line for each unknown option, and for a `verify` that is not a function
 */
export function requireSchemeOptions(
  scheme: string,
  options: { readonly verify: unknown },
  known: readonly string[],
): void {
  const problems = [...unknownOptions(scheme, options, known)];
  const { verify } = options;
  if (typeof verify !== 'function') {
    problems.push(`${scheme}: verify is ${formatValue(verify)}; it must be a function.`);
  }
  if (problems.length > 0) throw new GatewayError(problems.join('\n'));
}
