import type { HttpRequest } from '../../http/request.ts';
import { memberNames } from '../../http/unknownOptions.ts';
import type { HeaderSource, Scheme, SecurityScheme } from '../scheme.ts';
import { requireChallenge } from './challenge.ts';
import { requireSchemeOptions, type SchemeOptions } from './options.ts';

export interface CustomOptions<Identity> extends Omit<SchemeOptions<Identity>, 'realm'> {
  readonly name: string;
  /**
   * Reads the credential: all that `verify` decides by, since a verdict on it is remembered, and calls are counted by it.
   * @returns `undefined` where the request has none, `null` where it is malformed
   */
  readonly read: (source: HeaderSource, request: HttpRequest) => string | null | undefined;
  /** The challenge of a 401, such as `Signature realm="api"` (RFC 9110 §11.3). */
  readonly challenge: string;
  readonly document: SecurityScheme;
  /** What to send, for the message of a 401. Default: `the credential "<name>"`. */
  readonly usage?: string;
  /** Whether browsers add the credential on their own, as they do cookies and client certificates. Default: false. */
  readonly isAmbient?: boolean;
}

const optionNames = memberNames<CustomOptions<unknown>>({
  name: true,
  read: true,
  verify: true,
  scopes: true,
  challenge: true,
  document: true,
  usage: true,
  isAmbient: true,
});

/**
 * A scheme of your own: a signature, a client certificate that a proxy names in a header.
 * @throws {GatewayError} for a challenge that no header can carry
 */
export function custom<Identity>(options: CustomOptions<Identity>): Scheme<Identity> {
  requireSchemeOptions('custom', options, optionNames);
  const {
    name,
    read,
    verify,
    scopes,
    challenge,
    document,
    usage = `the credential "${name}"`,
    isAmbient = false,
  } = options;
  requireChallenge(challenge);
  return {
    name,
    noun: 'credential',
    usage,
    isAmbient,
    document,
    read,
    verify,
    ...(scopes && { scopes }),
    challenge: (error) => (error?.error === 'insufficient_scope' ? undefined : challenge),
  };
}
