// The entry point `@petstore/gateway/jwt`. It is separate so that services without JWTs do not need jose.
import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose';
import type { HttpRequest } from '../../http/request.ts';
import { formatValue } from '../../http/formatValue.ts';
import { unknownOptions } from '../../http/unknownOptions.ts';
import { GatewayError } from '../../procedures/gatewayError.ts';
import { RecentMap } from '../../state/recentMap.ts';
import type { HeaderSource, Rejected, Scheme } from '../../calls/scheme.ts';
import { bearerChallenge, bearerReads, bearerToken } from './bearer.ts';
import { KeySet, keysUnavailable, type Keys } from './keySet.ts';
import { defaultRealm, schemeNames, type SchemeOptions } from './options.ts';
import { protectedResource, type ProtectedResourceOptions } from './protectedResource.ts';

/** Options of `jwt()`. */
export interface JwtOptions<Identity> extends Omit<SchemeOptions<Identity>, 'verify'> {
  /** The required `iss` claim. */
  readonly issuer: string;
  /** The required `aud` claim, which identifies this service. With a list, one entry must match. */
  readonly audience: string | readonly string[];
  /** The URL of the issuer's JSON Web Key Set, such as `https://login.example/.well-known/jwks.json`. */
  readonly jwksUri: string;
  /**
   * The accepted signature algorithms; only public-key algorithms are possible. Default: all RS, PS and ES sizes, and
   * EdDSA.
   */
  readonly algorithms?: readonly string[];
  /**
   * The required `typ` header, such as `at+jwt` (RFC 9068), so that other tokens of the issuer are rejected. Default:
   * any.
   */
  readonly type?: string;
  /** The tolerated clock skew, in seconds. Default: 5. */
  readonly clockToleranceSeconds?: number;
  /**
   * How long the issuer's keys are cached, in seconds. A key that the issuer withdraws is accepted until then. An
   * unknown key causes an immediate reload. Default: 600.
   */
  readonly maxAgeSeconds?: number;
  /**
   * Resolves claims to an identity, or to a falsy value to reject the token. It runs once per request, even if the
   * signature was verified before. Default: the claims are the identity.
   */
  readonly verify?: (
    claims: JWTPayload,
    request: HttpRequest,
  ) => Identity | Rejected | PromiseLike<Identity | Rejected>;
  /** Returns the scopes of an identity. Default: the `scope` claim (RFC 9068 §2.2.3), unless `verify` is set. */
  readonly scopes?: (identity: Identity) => readonly string[];
  /**
   * Serves the metadata by which clients discover the authorization server (RFC 9728). Its `authorizationServers`
   * default to the issuer.
   */
  readonly protectedResource?: Omit<ProtectedResourceOptions, 'authorizationServers'> &
    Partial<Pick<ProtectedResourceOptions, 'authorizationServers'>>;
}

const optionNames = schemeNames<JwtOptions<unknown>>({
  issuer: true,
  audience: true,
  jwksUri: true,
  algorithms: true,
  type: true,
  clockToleranceSeconds: true,
  maxAgeSeconds: true,
  protectedResource: true,
});

const publicKeyAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Longer tokens are malformed. */
const maxTokenLength = 8192;
/** A JWS in compact form (RFC 7515 §7.1). */
const compactJws = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** How many verified tokens are cached. Only valid tokens are, so a client cannot fill the cache with forged ones. */
const maxVerifiedTokens = 10_000;

interface VerifiedToken {
  readonly claims: JWTPayload;
  /** The keys that verified the token. */
  readonly keys: Keys;
  /** A time of `Date.now()`. */
  readonly expiresAt: number;
}

/**
 * Authenticates by JWT access tokens (RFC 9068, RFC 8725), sent as bearer tokens. Requires `npm install jose`.
 *
 * Signatures are verified with the keys of the issuer (JWKS), and the result is cached. `iss`, `aud`, `exp` and `nbf`
 * are checked on every request. For an unknown key the key set is reloaded before the token is rejected. While the
 * issuer is unavailable, tokens with unknown keys get 503, not 401, and known keys stay valid for a day.
 *
 * Clients renew their tokens. With `rateLimit`, identify callers by `key: ({ identity }) => identity?.sub ?? ''`
 * instead of the token.
 * @throws {GatewayError} for invalid options
 */
export function jwt<Identity = JWTPayload>(options: JwtOptions<Identity>): Scheme<Identity> {
  const unknown = unknownOptions('jwt', options, optionNames);
  if (unknown.length > 0) throw new GatewayError(unknown.join('\n'));
  const {
    verify: identify = (claims: JWTPayload) => claims as Identity,
    scopes = options.verify === undefined ? scopesOfClaims : undefined,
    realm = defaultRealm,
    name = 'jwt',
    document = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token.' },
    issuer,
    clockToleranceSeconds = 5,
    maxAgeSeconds = 600,
  } = options;
  const checks = checksOf(options, clockToleranceSeconds);
  const resource =
    options.protectedResource &&
    protectedResource({ authorizationServers: [issuer], ...options.protectedResource });
  const keySet = new KeySet(options.jwksUri, maxAgeSeconds * 1000);
  const verifiedTokens = new RecentMap<VerifiedToken>(maxVerifiedTokens);

  async function claimsOf(
    token: string,
    startedAt: number,
    current: Keys | Promise<Keys>,
  ): Promise<JWTPayload | undefined> {
    let keys = await current;
    let claims = await check(token, keys, checks);
    if (claims === 'unknown key') {
      keys = await keySet.since(startedAt);
      claims = await check(token, keys, checks);
      if (claims === 'unknown key') return undefined;
    }
    if (claims === undefined) return undefined;
    const { exp = 0 } = claims;
    verifiedTokens.set(token, { claims, keys, expiresAt: (exp + clockToleranceSeconds) * 1000 });
    return claims;
  }

  return {
    name,
    noun: 'access token',
    usage: '"Authorization: Bearer <access token>"',
    reads: bearerReads,
    header: 'authorization',
    isAmbient: false,
    document,
    ...(resource && { protectedResource: resource.served }),
    read: readJwt,
    verify(token, request) {
      const startedAt = performance.now();
      const cached = verifiedTokens.get(token);
      // Expiry does not depend on the keys: streams must end also while the key set is unavailable.
      if (cached && Date.now() >= cached.expiresAt) return undefined;
      const keys = keySet.current();
      if (cached?.keys === keys) return identify(cached.claims, request);
      return claimsOf(token, startedAt, keys).then((claims) => claims && identify(claims, request));
    },
    ...(scopes && { scopes }),
    challenge: bearerChallenge(realm, resource?.url),
  };
}

/**
 * Validates the options, and returns those for `jwtVerify`.
 * @throws {GatewayError} for invalid options
 */
function checksOf<Identity>(
  { algorithms = publicKeyAlgorithms, audience, issuer, jwksUri, type }: JwtOptions<Identity>,
  clockTolerance: number,
): JWTVerifyOptions {
  // With an unset environment variable, tokens of every issuer would be accepted.
  if (typeof (issuer as unknown) !== 'string') {
    throw new GatewayError(`jwt: issuer is ${formatValue(issuer)}; it must be a string.`);
  }
  const audiences: readonly unknown[] = [audience].flat();
  if (!audiences.every((each) => typeof each === 'string')) {
    throw new GatewayError(
      `jwt: audience is ${formatValue(audience)}; it must be a string or an array of strings.`,
    );
  }
  if (issuer === '' || audiences.length === 0 || audiences.includes('')) {
    throw new GatewayError(
      'jwt: issuer and audience must not be empty; otherwise tokens of other issuers or audiences would be accepted.',
    );
  }
  const unknown = algorithms.find((each) => !publicKeyAlgorithms.includes(each));
  if (unknown !== undefined || algorithms.length === 0) {
    throw new GatewayError(
      `jwt: algorithms ${unknown === undefined ? 'is empty' : `contains "${unknown}"`}; it must contain one or more of ${publicKeyAlgorithms.join(', ')}, and no other.`,
    );
  }
  const url = URL.parse(jwksUri);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new GatewayError(`jwt: jwksUri is "${jwksUri}"; it must be an https URL.`);
  }
  return {
    issuer,
    audience: typeof audience === 'string' ? audience : [...audience],
    algorithms: [...algorithms],
    requiredClaims: ['exp'],
    clockTolerance,
    ...(type !== undefined && { typ: type }),
  };
}

function readJwt(source: HeaderSource): string | null | undefined {
  const token = bearerToken(source);
  if (typeof token !== 'string') return token;
  return token.length <= maxTokenLength && compactJws.test(token) ? token : null;
}

/** Verifies a token and returns its claims; `undefined` if the token is invalid. */
async function check(
  token: string,
  keys: Keys,
  checks: JWTVerifyOptions,
): Promise<JWTPayload | 'unknown key' | undefined> {
  try {
    return await claimsBy(token, keys, checks);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown key';
    // A token without `kid` (RFC 7515 §4.1.4) may be signed with a key that is not loaded yet.
    if (error instanceof errors.JWSSignatureVerificationFailed && !namesKey(token)) return 'unknown key';
    if (error instanceof errors.JWKSInvalid) throw keysUnavailable(error);
    return undefined;
  }
}

async function claimsBy(token: string, keys: Keys, checks: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return await claimsByKey(token, keys, checks);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return await claimsByKey(token, () => key, checks);
      } catch (keyError) {
        if (!(keyError instanceof errors.JWSSignatureVerificationFailed)) throw keyError;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Verifies a token. A key that cannot be used does not verify it; every error is a `JOSEError`. */
async function claimsByKey(
  token: string,
  key: JWTVerifyGetKey,
  checks: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, key, checks)).payload;
  } catch (error) {
    // jose 6: a TypeError for an RSA key of less than 2,048 bits, a DataError for a malformed key.
    throw error instanceof errors.JOSEError ? error : new errors.JWSSignatureVerificationFailed();
  }
}

/** Whether the header of a token has `kid`. jose must have parsed the header before. */
function namesKey(token: string): boolean {
  const header = token.slice(0, token.indexOf('.')).replaceAll('-', '+').replaceAll('_', '/');
  return 'kid' in (JSON.parse(atob(header)) as object);
}

const scopesOfClaims = (claims: unknown): readonly string[] => {
  const { scope } = claims as { readonly scope?: unknown };
  return typeof scope === 'string' ? scope.split(' ') : [];
};
