import type { HttpRequest } from '../../http/request.ts';
import { memberNames } from '../../http/unknownOptions.ts';
import type { HeaderSource, Scheme, SecurityScheme } from '../../calls/scheme.ts';
import { requireChallenge } from './challenge.ts';
import { requireSchemeOptions, type SchemeOptions } from './options.ts';

/** Options of `custom()`. */
export interface CustomOptions<Identity> extends Omit<SchemeOptions<Identity>, 'realm'> {
  /** The name of the scheme in the document's `securitySchemes`. It must be unique. */
  readonly name: string;
  /**
   * Reads the credential. The string must contain everything that `verify` decides by: rejections are remembered by it,
   * and calls are counted by it.
   * @returns `undefined` if the request has no credential, `null` if the credential is malformed
   */
  readonly read: (source: HeaderSource, request: HttpRequest) => string | null | undefined;
  /** The challenge of a 401, such as `Signature realm="api"` (RFC 9110 §11.3). */
  readonly challenge: string;
  /** The entry in the document's `securitySchemes`. */
  readonly document: SecurityScheme;
  /** What to send, for the message of a 401. Default: `the credential "<name>"`. */
  readonly usage?: string;
  /** Whether browsers send the credential automatically, as with cookies and client certificates. Default: false. */
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
 * Creates a custom authentication scheme, such as a request signature, or a client certificate that a proxy forwards in
 * a header.
 * @throws {GatewayError} for a challenge that is not valid in a header
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
