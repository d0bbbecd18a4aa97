import {
  callback,
  isFunction,
  type OptionRules,
  required,
  requireOptions,
  text,
} from '../../checks/optionRules.ts';
import { GatewayError } from '../../checks/gatewayError.ts';
import type { Scheme, Verify } from '../../calls/scheme.ts';

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
  /**
   * Returns the scopes of an identity, for procedures with `scopes` in their metadata. Default of `jwt` without `verify`:
   * the claim `scope` (RFC 9068 §2.2.3). Other schemes have none.
   */
  readonly scopes?: (identity: Identity) => readonly string[];
  /** The realm of `WWW-Authenticate`. Default: `api`. */
  readonly realm?: string;
  /** The unique name of the scheme in the document's `securitySchemes`. Default: the name of the function. */
  readonly name?: string;
}

const commonRules: OptionRules<SchemeOptions<unknown>> = {
  verify: required(isFunction, 'a function'),
  scopes: callback,
  realm: text,
  name: text,
};

/** Checks a scheme's options, and returns the common ones. @throws {GatewayError} a line per invalid option */
export function commonMembers<Identity, Options>(
  scheme: string,
  options: Options & Pick<SchemeOptions<Identity>, 'name' | 'scopes'>,
  rules: OptionRules<Omit<Options, keyof SchemeOptions<unknown>>>,
): Pick<Scheme<Identity>, 'name' | 'scopes'> {
  requireOptions(scheme, options, { ...commonRules, ...rules });
  const { name = scheme, scopes } = options;
  return { name, ...(scopes && { scopes }) };
}

/** `Bearer realm="api"` (RFC 9110 §11.3), without undefined parameters. @throws {GatewayError} if invalid */
export function challengeOf(
  scheme: string,
  { realm = 'api', ...others }: Readonly<Record<string, string | undefined>>,
): string {
  const list = Object.entries({ realm, ...others }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`],
  );
  return requireChallenge(`${scheme} ${list.join(', ')}`);
}

/** @throws {GatewayError} for a challenge that is not valid in a header */
export function requireChallenge(challenge: string): string {
  if (/^[\x21-\x7e][\x20-\x7e]*$/.test(challenge)) return challenge;
  throw new GatewayError(
    `The challenge ${JSON.stringify(challenge)} of an authentication scheme cannot be sent in a header. Use printable ASCII for the challenge and its realm.`,
  );
}

/** Returns a challenge for missing and invalid credentials. A missing scope has none: another credential is no help. */
export const credentialChallenge =
  (challenge: string): Scheme['challenge'] =>
  (error) =>
    error?.error === 'insufficient_scope' ? undefined : challenge;
