import type { HttpRequest } from '../../http/request.ts';
import { requireSync } from '../../http/hooks.ts';
import { isObject } from '../../http/isObject.ts';
import { isFunction, isText, required } from '../../checks/optionRules.ts';
import type { HeaderSource, Scheme, SecurityScheme } from '../../calls/scheme.ts';
import { commonMembers, credentialChallenge, requireChallenge, type SchemeOptions } from './options.ts';

/** Options of `custom()`. */
export interface CustomOptions<Identity> extends Pick<SchemeOptions<Identity>, 'verify' | 'scopes'> {
  /** The name of the scheme in the document's `securitySchemes`. It must be unique. */
  readonly name: string;
  /** The entry in the document's `securitySchemes`. */
  readonly document: SecurityScheme;
  /**
   * Reads the credential: all that `verify` decides by, since it is the key of remembered rejections and counts.
   * @returns `undefined` if the request has none, `null` if it is malformed
   */
  readonly read: (source: HeaderSource, request: HttpRequest) => string | null | undefined;
  /** The challenge of a 401, such as `Signature realm="api"` (RFC 9110 §11.3). */
  readonly challenge: string;
}

const rules = {
  name: required(isText, "the scheme's name in the document, such as name: 'signature'"),
  read: required(isFunction, 'a function'),
  challenge: required(isText, `a challenge, such as challenge: 'Signature realm="api"'`),
  document: required(isObject, "an object, such as document: { type: 'http', scheme: 'signature' }"),
};

/**
 * Creates a custom scheme, such as a request signature, or a client certificate that a proxy forwards in a header.
 * Requests of other sites are rejected as by `cookie()`, since browsers may add the credential.
 * @example
 * custom({
 *   name: 'basic',
 *   // undefined: the request has no credential. null: it is malformed.
 *   read: (source) => source.header('authorization')?.match(/^Basic +(\S+)$/i)?.[1],
 *   verify(credential) {
 *     const [user = '', ...password] = Buffer.from(credential, 'base64').toString().split(':');
 *     return isPassword(user, password.join(':')) ? user : undefined;
 *   },
 *   challenge: 'Basic realm="api", charset="UTF-8"',
 *   document: { type: 'http', scheme: 'basic' },
 * });
 * @throws {GatewayError} for a challenge that is not valid in a header
 */
export function custom<Identity>(options: CustomOptions<Identity>): Scheme<Identity> {
  const common = commonMembers('custom', options, rules);
  const { name, document, read, verify, challenge } = options;
  return {
    ...common,
    document,
    noun: 'credential',
    usage: `the credential "${name}"`,
    // Browsers may send it automatically, as a certificate that a proxy forwards.
    isAmbient: true,
    read: (source, request) => requireSync(read(source, request), 'read of custom()'),
    verify,
    challenge: credentialChallenge(requireChallenge(challenge)),
  };
}
