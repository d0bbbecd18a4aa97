import type { HttpRequest } from '../../http/request.ts';
import type { HeaderSource, Rejected, Scheme } from '../scheme.ts';
import { challengeOf } from './challenge.ts';
import { defaultRealm, requireSchemeOptions, schemeNames, type SchemeOptions } from './options.ts';

export interface BasicOptions<Identity> extends Omit<SchemeOptions<Identity>, 'verify'> {
  /** As for every scheme, with the two parts of the credential. Compare a password with `isSameSecret`. */
  readonly verify: (
    user: string,
    password: string,
    request: HttpRequest,
  ) => Identity | Rejected | PromiseLike<Identity | Rejected>;
}

const optionNames = schemeNames<BasicOptions<unknown>>({});

/**
 * User name and password in the `Authorization` header (RFC 7617), in UTF-8. Browsers ask their user for them after a
 * 401, and then send them on their own: pages of other sites are kept out as `cookie` says.
 */
export function basic<Identity>(options: BasicOptions<Identity>): Scheme<Identity> {
  requireSchemeOptions('basic', options, optionNames);
  const {
    verify,
    scopes,
    realm = defaultRealm,
    name = 'basic',
    document = { type: 'http', scheme: 'basic', description: 'User name and password.' },
  } = options;
  const challenge = challengeOf('Basic', { realm, charset: 'UTF-8' });
  return {
    name,
    noun: 'credential',
    usage: '"Authorization: Basic <user name and password>"',
    reads: '"Authorization: Basic"',
    isAmbient: true,
    document,
    read: basicCredential,
    verify(credential, request) {
      const colon = credential.indexOf(':');
      return verify(credential.slice(0, colon), credential.slice(colon + 1), request);
    },
    ...(scopes && { scopes }),
    challenge: (error) => (error?.error === 'insufficient_scope' ? undefined : challenge),
  };
}

const scheme = /^basic(?: |$)/i;
const base64 = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// oxlint-disable-next-line no-control-regex -- RFC 7617 §2: neither part may have control characters
const control = /[\0-\x1f\x7f]/;

/** `user:password`, decoded. A user name has no colon, a password may. */
export function basicCredential(source: HeaderSource): string | null | undefined {
  const authorization = source.header('authorization');
  if (authorization === undefined) return undefined;
  const encoded = base64.exec(authorization)?.[1];
  if (encoded === undefined) return scheme.test(authorization) ? null : undefined;
  try {
    const credential = utf8.decode(Uint8Array.from(atob(encoded), (byte) => byte.charCodeAt(0)));
    return credential.includes(':') && !control.test(credential) ? credential : null;
  } catch {
    return null;
  }
}
