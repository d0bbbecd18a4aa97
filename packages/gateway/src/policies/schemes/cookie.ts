import { token } from '../../http/headers.ts';
import { GatewayError } from '../../procedures/gatewayError.ts';
import type { Scheme } from '../scheme.ts';
import { challengeOf } from './challenge.ts';
import { defaultRealm, requireSchemeOptions, schemeNames, type SchemeOptions } from './options.ts';

export interface CookieOptions<Identity> extends SchemeOptions<Identity> {
  /**
   * The name of the cookie. Start it with `__Host-`: browsers then take it from this very host alone, over TLS and for
   * all paths, so that no sibling subdomain can set another one in its place (RFC 6265bis §4.1.3.2).
   */
  readonly cookie: string;
}

const optionNames = schemeNames<CookieOptions<unknown>>({
  cookie: true,
});

/**
 * A session in a cookie, such as `__Host-session`. Set it with `HttpOnly`, `Secure`, `Path=/` and `SameSite=Lax`.
 *
 * Browsers send cookies along with what any page requests. So a request that can change something is rejected (403)
 * where a page of another site made it, a sibling subdomain included: by `Sec-Fetch-Site` (Fetch Metadata), and without it
 * by `Origin`. Pages of `cors.origins` may call where `cors.credentials` is set.
 * @throws {GatewayError} for an invalid cookie name
 */
export function cookie<Identity>(options: CookieOptions<Identity>): Scheme<Identity> {
  requireSchemeOptions('cookie', options, optionNames);
  const {
    verify,
    scopes,
    cookie: cookieName,
    realm = defaultRealm,
    name = 'cookie',
    document = { type: 'apiKey', in: 'cookie', name: cookieName, description: 'The session.' },
  } = options;
  if (!token.test(cookieName)) {
    throw new GatewayError(
      `cookie: the cookie's name is "${cookieName}", which is not valid: write it as __Host-session, without spaces.`,
    );
  }
  const challenge = challengeOf('Cookie', { realm, 'cookie-name': cookieName });
  return {
    name,
    noun: 'session',
    usage: `the cookie "${cookieName}"`,
    reads: `the cookie "${cookieName}"`,
    isAmbient: true,
    document,
    // Connection parameters cannot stand in for a cookie: a page cannot read one that is HttpOnly.
    read: (_source, request) => cookieValue(request.header('cookie'), cookieName),
    verify,
    ...(scopes && { scopes }),
    challenge: (error) => (error?.error === 'insufficient_scope' ? undefined : challenge),
  };
}

/**
 * The value of a cookie (RFC 6265 §4.2.1), without the quotes around it and otherwise as sent: not percent-decoded. Spaces
 * and tabs alone are taken off: browsers let a subdomain set a cookie whose name begins with other white space in front of
 * `__Host-`.
 * @returns `undefined` where it is absent or empty; `null` where it comes twice, as one of a sibling subdomain or of
 *   another path does, which nothing tells from the host's own
 */
export function cookieValue(header: string | undefined, name: string): string | null | undefined {
  if (header === undefined) return undefined;
  let found: string | undefined;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    // Names are case-sensitive.
    if (equals === -1 || cookieName.exec(pair.slice(0, equals))?.[1] !== name) continue;
    if (found !== undefined) return null;
    found = pair.slice(equals + 1);
  }
  if (found === undefined) return undefined;
  const value = octets.exec(found)?.[2];
  return value === undefined ? null : value || undefined;
}

const cookieName = /^[ \t]*([^ \t]*)[ \t]*$/;

/** RFC 6265 §4.1.1: no spaces, quotes, commas, semicolons or backslashes, perhaps in quotes. */
const octets = /^[ \t]*("?)([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*)\1[ \t]*$/;
