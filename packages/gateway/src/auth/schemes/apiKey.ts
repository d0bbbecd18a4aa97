import { tokenPattern } from '../../http/headers.ts';
import { GatewayError } from '../../procedures/gatewayError.ts';
import type { Scheme } from '../../calls/scheme.ts';
import { challengeOf } from './challenge.ts';
import { defaultRealm, requireSchemeOptions, schemeNames, type SchemeOptions } from './options.ts';

/** Options of `apiKey()`. */
export interface ApiKeyOptions<Identity> extends SchemeOptions<Identity> {
  /** The header that carries the key. Default: `X-API-Key`. */
  readonly header?: string;
}

const optionNames = schemeNames<ApiKeyOptions<unknown>>({
  header: true,
});

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
  requireSchemeOptions('apiKey', options, optionNames);
  const {
    verify,
    scopes,
    header = 'X-API-Key',
    realm = defaultRealm,
    name = 'apiKey',
    document = { type: 'apiKey', in: 'header', name: header, description: 'The API key.' },
  } = options;
  if (!tokenPattern.test(header)) {
    throw new GatewayError(
      `apiKey: header is "${header}"; it must be a valid header name, such as X-API-Key.`,
    );
  }
  const lowerCase = header.toLowerCase();
  const challenge = challengeOf('ApiKey', { realm, header });
  return {
    name,
    noun: 'API key',
    usage: `"${header}: <API key>"`,
    reads: `"${lowerCase}"`,
    header: lowerCase,
    isAmbient: false,
    document,
    read(source) {
      const key = source.header(lowerCase);
      return key === undefined || validKey.test(key) ? key : null;
    },
    verify,
    ...(scopes && { scopes }),
    challenge: (error) => (error?.error === 'insufficient_scope' ? undefined : challenge),
  };
}

/** Visible ASCII without commas: a comma means that several headers were joined. */
const validKey = /^[\x21-\x2b\x2d-\x7e]+$/;
