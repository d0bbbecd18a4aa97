import type { HttpRequest } from '../../http/request.ts';
import type { HeaderSource, Scheme, SecurityScheme } from '../scheme.ts';
import { requireChallenge } from './challenge.ts';
import { requireVerify, type SchemeOptions } from './options.ts';

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

/**
 * A scheme of your own: a signature, a client certificate that a proxy names in a header.
 * @throws {GatewayError} for a challenge that no header can carry
 */
export function custom<Identity>({
  name,
  read,
  verify,
  scopes,
  challenge,
  document,
  usage = `the credential "${name}"`,
  isAmbient = false,
}: CustomOptions<Identity>): Scheme<Identity> {
  requireVerify('custom', verify);
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
