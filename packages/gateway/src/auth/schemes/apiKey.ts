import { tokenPattern } from '../../http/response.ts';
import { isText, optional } from '../../checks/optionRules.ts';
import type { Scheme } from '../../calls/scheme.ts';
import { challengeOf, commonMembers, credentialChallenge, type SchemeOptions } from './options.ts';

/** Options of `apiKey()`. */
export interface ApiKeyOptions<Identity> extends SchemeOptions<Identity> {
  /** The header that carries the key. Default: `X-API-Key`. */
  readonly header?: string;
}

const rules = {
  header: optional((value) => isText(value) && tokenPattern.test(value), 'a header name, such as X-API-Key'),
};

/**
 * Authenticates by an API key in a request header.
 *
 * ```ts
 * authentication: apiKey({ verify: (key) => customers.get(key) })
 * ```
 *
 * Pages of other origins may send the header if `cors` allows them to call. HTTP has no standard challenge for API
 * keys, so a 401 has `WWW-Authenticate: ApiKey` with the name of the header.
 * @throws {GatewayError} for an invalid header name
 */
export function apiKey<Identity>(options: ApiKeyOptions<Identity>): Scheme<Identity> {
  const common = commonMembers('apiKey', options, rules);
  const { verify, realm, header: name = 'X-API-Key' } = options;
  const header = name.toLowerCase();
  return {
    ...common,
    document: { type: 'apiKey', in: 'header', name, description: 'The API key.' },
    noun: 'API key',
    usage: `"${name}: <API key>"`,
    reads: `"${header}"`,
    header,
    isAmbient: false,
    read(source) {
      const key = source.header(header);
      return key === undefined || validKey.test(key) ? key : null;
    },
    verify,
    challenge: credentialChallenge(challengeOf('ApiKey', { realm, header: name })),
  };
}

/** Visible ASCII without commas: a comma means that several headers were joined. */
const validKey = /^[\x21-\x2b\x2d-\x7e]+$/;
