import { tokenPattern } from '../../http/response.ts';
import { flag, isText, required } from '../../checks/optionRules.ts';
import type { Scheme } from '../../calls/scheme.ts';
import { challengeOf, commonMembers, credentialChallenge, type SchemeOptions } from './options.ts';

/** Options of `cookie()`. */
export interface CookieOptions<Identity> extends SchemeOptions<Identity> {
  /**
   * The name of the cookie. Use the prefix `__Host-`: browsers then accept the cookie only from this exact host, over
   * TLS and for all paths, so that a sibling subdomain cannot overwrite it (RFC 6265bis §4.1.3.2).
   */
  readonly cookie: string;
  /**
   * Whether a proxy rejects every request whose `Cookie` header contains bytes outside ASCII. Set it to serve with
   * `trpc-gateway/uws`, which rejects the scheme otherwise: uWebSockets.js removes such bytes at the start of a
   * header, so a sibling subdomain could set this cookie by a name that browsers take for another one. Default: false.
   */
  readonly proxyRejectsNonAscii?: boolean;
}

const rules = {
  cookie: required(
    (value) => isText(value) && tokenPattern.test(value),
    'a cookie name, such as __Host-session',
  ),
  proxyRejectsNonAscii: flag,
};

/**
 * Authenticates by a session cookie, such as `__Host-session`. Set it with `HttpOnly`, `Secure`, `Path=/` and
 * `SameSite=Lax`.
 *
 * Browsers send cookies with the requests of any page (CSRF), so requests that can change state get 403 from a page
 * of another site or sibling subdomain, by `Sec-Fetch-Site` (Fetch Metadata) or else `Origin`. Pages of
 * `cors.origins` may call if `cors.credentials` is set.
 * @throws {GatewayError} for an invalid cookie name
 */
export function cookie<Identity>(options: CookieOptions<Identity>): Scheme<Identity> {
  const common = commonMembers('cookie', options, rules);
  const { verify, realm, cookie: name, proxyRejectsNonAscii = false } = options;
  return {
    ...common,
    document: { type: 'apiKey', in: 'cookie', name, description: 'The session.' },
    noun: 'session',
    usage: `the cookie "${name}"`,
    reads: `the cookie "${name}"`,
    header: 'cookie',
    needsExactHeaders: !proxyRejectsNonAscii,
    isAmbient: true,
    // Connection parameters cannot replace a cookie: a page cannot read an HttpOnly cookie.
    read: (_source, request) => cookieValue(request.header('cookie'), name),
    verify,
    challenge: credentialChallenge(challengeOf('Cookie', { realm, 'cookie-name': name })),
  };
}

/**
 * Reads a cookie (RFC 6265 §4.2.1) without quotes or percent-decoding. Trims only spaces and tabs from names, because
 * browsers let a subdomain set a cookie with other white space before `__Host-`.
 * @returns `undefined` if missing or empty; `null` if invalid or sent twice, since one may be of a sibling subdomain
 *   or another path
 */
export function cookieValue(header: string | undefined, name: string): string | null | undefined {
  if (header === undefined) return undefined;
  let rawValue: string | undefined;
  for (const pair of header.split(';')) {
    const [, key, value] = cookiePair.exec(pair) ?? [];
    // Names are case-sensitive.
    if (key !== name) continue;
    if (rawValue !== undefined) return null;
    rawValue = value;
  }
  if (rawValue === undefined) return undefined;
  const value = cookieOctets.exec(rawValue)?.[2];
  return value === undefined ? null : value || undefined;
}

// Blanks between two patterns that cannot match a blank: with two adjacent `[ \t]*`, the time would be quadratic.
const cookiePair = /^[ \t]*([^ \t=]+)[ \t]*=(.*)$/s;

/** A cookie value (RFC 6265 §4.1.1): no spaces, quotes, commas, semicolons or backslashes, optionally in quotes. */
const cookieOctets = /^[ \t]*(?![ \t])("?)([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*)\1[ \t]*$/;
