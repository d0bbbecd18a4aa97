import type { HeaderSource, Scheme } from '../../calls/scheme.ts';
import {
  challengeOf,
  commonMembers,
  credentialChallenge,
  requireSchemeOptions,
  type SchemeOptions,
} from './options.ts';

/**
 * Options of `basic()`. `verify` receives the user name and the password: compare passwords in constant time, such as with
 * `timingSafeEqual` of `node:crypto` and their digests.
 */
export type BasicOptions<Identity> = SchemeOptions<Identity, [user: string, password: string]>;

/**
 * Authenticates by user name and password in the `Authorization` header (RFC 7617), encoded as UTF-8. Browsers prompt
 * for them after a 401 and then send them automatically, so requests from pages of other sites are rejected as with
 * `cookie()`.
 */
export function basic<Identity>(options: BasicOptions<Identity>): Scheme<Identity> {
  requireSchemeOptions('basic', options, {});
  const { verify, realm } = options;
  return {
    ...commonMembers(options, 'basic', {
      type: 'http',
      scheme: 'basic',
      description: 'User name and password.',
    }),
    noun: 'credential',
    usage: '"Authorization: Basic <user name and password>"',
    reads: '"Authorization: Basic"',
    header: 'authorization',
    isAmbient: true,
    read: basicCredential,
    verify(credential, request) {
      const colon = credential.indexOf(':');
      return verify(credential.slice(0, colon), credential.slice(colon + 1), request);
    },
    challenge: credentialChallenge(challengeOf('Basic', { realm, charset: 'UTF-8' })),
  };
}

const basicScheme = /^basic(?: |$)/i;
const basicHeader = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;
const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// oxlint-disable-next-line no-control-regex -- RFC 7617 §2: neither part may have control characters
const forbiddenCharacter = /[\0-\x1f\x7f]/;

/** Reads and decodes `user:password`. A password may contain colons, a user name may not. */
export function basicCredential(source: HeaderSource): string | null | undefined {
  const authorization = source.header('authorization');
  if (authorization === undefined) return undefined;
  const encoded = basicHeader.exec(authorization)?.[1];
  if (encoded === undefined) return basicScheme.test(authorization) ? null : undefined;
  try {
    const credential = utf8Decoder.decode(Uint8Array.from(atob(encoded), (byte) => byte.charCodeAt(0)));
    return credential.includes(':') && !forbiddenCharacter.test(credential) ? credential : null;
  } catch {
    return null;
  }
}
