// The entry point `@petstore/gateway/jwt`. It is separate so that services without JWTs do not need jose.
import { TRPCError } from '@trpc/server';
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose';
import type { HttpRequest } from '../../http/request.ts';
import {
  callback,
  isText,
  isTextList,
  optional,
  type OptionRule,
  type OptionRules,
  required,
  text,
} from '../../http/optionRules.ts';
import { RecentMap } from '../../state/recentMap.ts';
import type { HeaderSource, Rejected, Scheme } from '../../calls/scheme.ts';
import {
  bearerMembers,
  bearerToken,
  type ProtectedResourceOptions,
  protectedResourceRule,
} from './bearer.ts';
import { commonMembers, requireSchemeOptions, type SchemeOptions } from './options.ts';

/** The claims of a verified token (RFC 7519 §4). */
export interface JwtClaims {
  readonly iss?: string;
  readonly sub?: string;
  readonly aud?: string | string[];
  readonly exp?: number;
  readonly nbf?: number;
  readonly iat?: number;
  readonly jti?: string;
  readonly [claim: string]: unknown;
}

/** The claims of a verified access token of the type `at+jwt`, which always has a subject (RFC 9068 §2.2). */
export interface AccessTokenClaims extends JwtClaims {
  readonly sub: string;
}

/** Options of `jwt()`. */
export interface JwtOptions<Identity, Claims extends JwtClaims = JwtClaims> extends Omit<
  SchemeOptions<Identity>,
  'verify'
> {
  /** The required `iss` claim. */
  readonly issuer: string;
  /** The required `aud` claim, which identifies this service. With a list, one entry must match. */
  readonly audience: string | readonly string[];
  /**
   * The URL of the issuer's JSON Web Key Set, such as `https://login.example/.well-known/jwks.json`. Use http only for
   * loopback: the keys decide which tokens are valid.
   */
  readonly jwksUri: string;
  /**
   * The accepted signature algorithms; only public-key algorithms are possible. Default: all RS, PS and ES sizes, and
   * EdDSA.
   */
  readonly algorithms?: readonly string[];
  /**
   * The required `typ` header, such as `at+jwt` (RFC 9068), so that other tokens of the issuer are rejected. With
   * `at+jwt`, tokens without a `sub` are rejected too. Default: any.
   */
  readonly type?: string;
  /**
   * Resolves claims to an identity, or to a falsy value to reject the token. It runs once per request, even if the
   * signature was verified before. Default: the claims are the identity.
   */
  readonly verify?: (
    claims: Claims,
    request: HttpRequest,
  ) => Identity | Rejected | PromiseLike<Identity | Rejected>;
  /**
   * Serves the metadata by which clients discover the authorization server (RFC 9728). Its `authorizationServers`
   * default to the issuer.
   */
  readonly protectedResource?: Omit<ProtectedResourceOptions, 'authorizationServers'> &
    Partial<Pick<ProtectedResourceOptions, 'authorizationServers'>>;
}

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

const isFilled = (value: unknown) => isText(value) && value !== '';

// With an unset environment variable as issuer or audience, tokens of every one would be accepted.
const rules: OptionRules<Omit<JwtOptions<unknown>, keyof SchemeOptions<unknown>>> & {
  readonly verify: OptionRule;
} = {
  verify: callback,
  issuer: required(isFilled, 'a string that is not empty'),
  audience: required(
    (value) => [value].flat().length > 0 && [value].flat().every(isFilled),
    'a string or an array of strings, none of them empty',
  ),
  jwksUri: required(
    (value) => isText(value) && /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
    'an http or https URL',
  ),
  algorithms: optional(
    (value) =>
      isTextList(value) && value.length > 0 && value.every((each) => publicKeyAlgorithms.includes(each)),
    `a list of one or more of ${publicKeyAlgorithms.join(', ')}, and no other`,
  ),
  type: text,
  protectedResource: protectedResourceRule(optional),
};

/** The `typ` of access tokens (RFC 9068 §2.1). */
const accessTokenType = 'at+jwt';

/** The tolerated clock skew, in seconds. */
const clockTolerance = 5;

/** Longer tokens are malformed. */
const maxTokenLength = 8192;
/** A JWS in compact form (RFC 7515 §7.1). */
const compactJws = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** How many verified tokens are cached. Only valid tokens are, so a client cannot fill the cache with forged ones. */
const maxVerifiedTokens = 10_000;

interface VerifiedToken {
  readonly claims: JwtClaims;
  /** A time of `Date.now()`, after which the signature is verified with newer keys. */
  readonly verifyAfter: number;
}

/**
 * Authenticates by JWT access tokens (RFC 9068, RFC 8725), sent as bearer tokens. Requires `npm install jose`.
 *
 * Signatures are verified with the keys of the issuer (JWKS), which are loaded every 10 minutes, and the result is
 * cached. `iss`, `aud`, `exp` and `nbf` are checked on every request, with 5 s for differences of clocks. For an unknown key the key set is reloaded before the token is rejected, at most once a
 * second. While the issuer is unavailable, tokens with unknown keys get 503, not 401, and known keys stay valid for a
 * day.
 *
 * Clients renew their tokens. With `rateLimit`, identify callers by `key: ({ identity }) => identity?.sub` instead
 * of the token.
 * @throws {GatewayError} for invalid options
 */
export function jwt<Identity = AccessTokenClaims>(
  options: JwtOptions<Identity, AccessTokenClaims> & { readonly type: 'at+jwt' },
): Scheme<Identity>;
export function jwt<Identity = JwtClaims>(options: JwtOptions<Identity>): Scheme<Identity>;
export function jwt<Identity>(options: JwtOptions<Identity, never>): Scheme<Identity> {
  requireSchemeOptions('jwt', options, rules);
  const {
    verify = (claims: JwtClaims) => claims as Identity,
    scopes = options.verify === undefined ? scopesOfClaims : undefined,
    realm,
    issuer,
    audience,
    algorithms = publicKeyAlgorithms,
    type,
    protectedResource,
  } = options;
  // Claims without a subject are rejected before it, if their type requires one.
  const identify = verify as NonNullable<JwtOptions<Identity>['verify']>;
  const requiresSubject = type?.toLowerCase().replace(/^application\//, '') === accessTokenType;
  const checks: JWTVerifyOptions = {
    issuer,
    audience: typeof audience === 'string' ? audience : [...audience],
    algorithms: [...algorithms],
    requiredClaims: ['exp'],
    clockTolerance,
    ...(type !== undefined && { typ: type }),
  };
  const keys = issuerKeys(options.jwksUri);
  const verifiedTokens = new RecentMap<VerifiedToken>(maxVerifiedTokens);

  async function verifyToken(token: string): Promise<JwtClaims | undefined> {
    keys.refresh();
    const claims = await claimsOf(token, keys.find, checks);
    if (requiresSubject && !isFilled(claims?.sub)) return undefined;
    if (claims) verifiedTokens.set(token, { claims, verifyAfter: keys.expireAt() });
    return claims;
  }

  return {
    ...commonMembers({ ...options, ...(scopes && { scopes }) }, 'jwt', {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'An access token.',
    }),
    ...bearerMembers(
      'access token',
      realm,
      protectedResource && { authorizationServers: [issuer], ...protectedResource },
    ),
    read: readJwt,
    verify(token, request) {
      const verified = verifiedTokens.get(token);
      if (verified) {
        const { claims, verifyAfter } = verified;
        // Expiry does not depend on the keys: streams must end also while the keys are unavailable.
        if (Date.now() >= ((claims.exp ?? 0) + clockTolerance) * 1000) return undefined;
        if (Date.now() < verifyAfter) return identify(claims, request);
      }
      return verifyToken(token).then((claims) => claims && identify(claims, request));
    },
  };
}

function readJwt(source: HeaderSource): string | null | undefined {
  const token = bearerToken(source);
  if (typeof token !== 'string') return token;
  return token.length <= maxTokenLength && compactJws.test(token) ? token : null;
}

/** The shortest time between two requests for keys, so that clients with invented key ids cause few. */
const minIntervalMs = 1000;

/** How old keys may be before they are loaded again. A key that the issuer withdraws is accepted until then. */
const maxAgeMs = 600_000;

/** How long known keys are used while the issuer is unavailable. */
const maxStaleMs = 86_400_000;

/**
 * The issuer's keys (JSON Web Key Set, RFC 7517 §5). jose caches them, shares requests for them, and repeats the request
 * for an unknown key.
 */
function issuerKeys(jwksUri: string) {
  let requestedAt = 0;
  let loadedAt = 0;
  const find = createRemoteJWKSet(new URL(jwksUri), {
    cacheMaxAge: maxStaleMs,
    cooldownDuration: minIntervalMs,
    async [customFetch](url, init) {
      requestedAt = Date.now();
      const response = await fetch(url, init).catch((cause: unknown) => {
        throw keysUnavailable(cause);
      });
      if (response.status === 200) loadedAt = requestedAt;
      return response;
    },
  });
  const expireAt = () => loadedAt + maxAgeMs;
  return {
    find,
    expireAt,
    /** Loads keys that are older than the maximum age again. Until they are loaded, the old keys are used. */
    refresh() {
      const now = Date.now();
      if (loadedAt === 0 || now < expireAt() || now < requestedAt + minIntervalMs) return;
      find.reload().catch(() => {});
    },
  };
}

/** The error while keys cannot be loaded. The token may be valid, so it is a 503, not a 401. */
const keysUnavailable = (cause: unknown): TRPCError =>
  new TRPCError({
    code: 'SERVICE_UNAVAILABLE',
    message: 'Access tokens cannot be verified at the moment. Try again later.',
    cause,
  });

/**
 * Verifies a token and returns its claims; `undefined` if the token is invalid.
 * @throws {TRPCError} `SERVICE_UNAVAILABLE` if the keys cannot be loaded
 */
async function claimsOf(
  token: string,
  key: JWTVerifyGetKey,
  checks: JWTVerifyOptions,
): Promise<JwtClaims | undefined> {
  try {
    return (await jwtVerify(token, key, checks)).payload;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      // A token without `kid` (RFC 7515 §4.1.4) may be signed by any key of its type.
      for await (const each of error) {
        const claims = await claimsOf(token, () => each, checks);
        if (claims) return claims;
      }
      return undefined;
    }
    if (error instanceof TRPCError) throw error;
    const { JOSEError, JWKSInvalid } = errors;
    // Keys that cannot be read. The generic error (jose 6): another status than 200, or no JSON.
    if (error instanceof JOSEError && [JOSEError.code, JWKSInvalid.code].includes(error.code)) {
      throw keysUnavailable(error);
    }
    // Of the token; or a TypeError or DataError for a key that cannot be used, such as RSA of less than 2,048 bits.
    return undefined;
  }
}

const scopesOfClaims = (claims: unknown): readonly string[] => {
  const { scope } = claims as { readonly scope?: unknown };
  return typeof scope === 'string' ? scope.split(' ') : [];
};
