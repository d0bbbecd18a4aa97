import { formatValue } from '../../http/formatValue.ts';
import { memberNames, unknownOptions } from '../../http/unknownOptions.ts';
import { GatewayError } from '../../procedures/gatewayError.ts';
import type { SecurityScheme, Verify } from '../scheme.ts';

/** What every scheme takes. */
export interface SchemeOptions<Identity> {
  /**
   * Checks a credential: once per request, before anything else of it is looked at, and about once a second while a
   * WebSocket or a stream of events goes on that began with it. A falsy value rejects it (401), and ends those (1008). A
   * `TRPCError` thrown here is the response: `SERVICE_UNAVAILABLE` while keys cannot be read. Let the credential alone
   * decide: streams that share it share a check, and `failedAttempts` remembers a rejection for half a second. What
   * depends on the rest of the request belongs in `createContext`.
   */
  readonly verify: Verify<Identity>;
  /** The scopes that an identity has, for procedures with `scopes` in their metadata. */
  readonly scopes?: (identity: Identity) => readonly string[];
  /** The realm of `WWW-Authenticate`. Default: `api`. */
  readonly realm?: string;
  /** Its name among the document's `securitySchemes`, which must be its own. */
  readonly name?: string;
  /** Its entry in the document's `securitySchemes`, in place of the one that follows from the other options. */
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

/** The names of the options of a scheme: what every scheme takes, and its own. */
export const schemeNames = <Options>(
  own: Record<Exclude<keyof Options, keyof SchemeOptions<unknown>>, true>,
): readonly string[] => [...commonNames, ...Object.keys(own)];

/**
 * Checks what plain JavaScript, a cast or a spread can pass in spite of the types.
 * @throws {GatewayError} a line for each option that is unknown, and for a `verify` that is not a function
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
