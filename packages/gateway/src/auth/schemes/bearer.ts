import type { HeaderSource, Scheme } from '../../calls/scheme.ts';
import { challengeOf } from './challenge.ts';
import { defaultRealm, requireSchemeOptions, schemeNames, type SchemeOptions } from './options.ts';
import { protectedResource, type ProtectedResourceOptions } from './protectedResource.ts';

/** Options of `bearer()`. */
export interface BearerOptions<Identity> extends SchemeOptions<Identity> {
  /** What error messages call the token, such as `API key`. Default: `token`. */
  readonly noun?: string;
  /** Serves the metadata by which clients discover the authorization server (RFC 9728). */
  readonly protectedResource?: ProtectedResourceOptions;
}

const optionNames = schemeNames<BearerOptions<unknown>>({
  noun: true,
  protectedResource: true,
});

/**
 * Authenticates by a bearer token in the `Authorization` header (RFC 6750).
 *
 * ```ts
 * authentication: bearer({ verify: (token) => users.get(token) })
 * ```
 */
export function bearer<Identity>(options: BearerOptions<Identity>): Scheme<Identity> {
  requireSchemeOptions('bearer', options, optionNames);
  const {
    verify,
    scopes,
    realm = defaultRealm,
    name = 'bearer',
    noun = 'token',
    document = {
      type: 'http',
      scheme: 'bearer',
      description: options.noun === undefined ? 'A bearer token.' : `The ${noun}, as a bearer token.`,
    },
    protectedResource: metadata,
  } = options;
  const resource = metadata && protectedResource(metadata);
  return {
    name,
    noun,
    usage: `"Authorization: Bearer <${noun}>"`,
    reads: bearerReads,
    header: 'authorization',
    isAmbient: false,
    document,
    ...(resource && { protectedResource: resource.served }),
    read: bearerToken,
    verify,
    ...(scopes && { scopes }),
    challenge: bearerChallenge(realm, resource?.url),
  };
}

/** `Scheme.reads` of all schemes with bearer tokens. */
export const bearerReads = '"Authorization: Bearer"';

// RFC 6750 §2.1: b64token. The scheme's name is case-insensitive (RFC 9110 §11.1).
const bearerScheme = /^bearer(?: |$)/i;
const bearerHeader = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** Reads a bearer token. `Authorization` with another scheme counts as no credential (RFC 6750 §3.1). */
export function bearerToken(source: HeaderSource): string | null | undefined {
  const authorization = source.header('authorization');
  if (authorization === undefined) return undefined;
  const token = bearerHeader.exec(authorization)?.[1];
  if (token !== undefined) return token;
  return bearerScheme.test(authorization) ? null : undefined;
}

/**
 * Creates the challenges of RFC 6750 §3. The challenge for a missing credential has no error code.
 * @param resourceMetadata the URL of the protected resource's metadata (RFC 9728 §5.1)
 * @throws {GatewayError} for a realm that is not valid in a header
 */
export function bearerChallenge(realm: string, resourceMetadata?: string): Scheme['challenge'] {
  const challengeWith = (error: Parameters<Scheme['challenge']>[0]) =>
    challengeOf('Bearer', { realm, ...error, resource_metadata: resourceMetadata });
  const missing = challengeWith(undefined);
  return (error) => (error ? challengeWith(error) : missing);
}
