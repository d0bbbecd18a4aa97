// The entry point `trpc-gateway/jwt`. It is separate so that services without JWTs do not need jose.
import { TRPCError } from '@trpc/server';
import {
  createRemoteJWKSet,
  cryptoRuntime,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose';
import { GatewayError } from '../../checks/gatewayError.ts';
import type { HttpRequest } from '../../http/request.ts';
import { callback, isText, isTextList, optional, required, text } from '../../checks/optionRules.ts';
import { RecentMap } from '../../state/recentMap.ts';
import type { HeaderSource, Rejected, Scheme } from '../../calls/scheme.ts';
import {
  bearerMembers,
  bearerToken,
  isHttpUrl,
  type ProtectedResourceOptions,
  protectedResourceRule,
} from './bearer.ts';
import { commonMembers, type SchemeOptions } from './options.ts';

/** The claims of a verified token (RFC 7519 §4). */
export type JwtClaims = Readonly<JWTPayload>;

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
  /** The accepted signature algorithms, which must be public-key. Default: all RS, PS and ES sizes, and EdDSA. */
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
  /** Serves the metadata that names the authorization server (RFC 9728). Default of `authorizationServers`: the issuer. */
  readonly protectedResource?: Omit<ProtectedResourceOptions, 'authorizationServers'> &
    Partial<Pick<ProtectedResourceOptions, 'authorizationServers'>>;
}

const publicKeyAlgorithms = [
  ...['RS', 'PS', 'ES'].flatMap((family) => [256, 384, 512].map((bits) => `${family}${bits}`)),
  'EdDSA',
  'Ed25519',
];

const isFilled = (value: unknown) => isText(value) && value !== '';

// With an unset environment variable as issuer or audience, tokens of every one would be accepted.
const rules = {
  verify: callback,
  issuer: required(isFilled, 'a string that is not empty'),
  audience: required(
    (value) => [value].flat().length > 0 && [value].flat().every(isFilled),
    'a string or an array of strings, none of them empty',
  ),
  jwksUri: required(isHttpUrl, 'an http or https URL'),
  algorithms: optional(
    (value) =>
      isTextList(value) && value.length > 0 && value.every((each) => publicKeyAlgorithms.includes(each)),
    `a list of one or more of ${publicKeyAlgorithms.join(', ')}, and no other`,
  ),
  type: text,
  protectedResource: protectedResourceRule(optional),
};

/** The tolerated clock skew, in seconds. */
const clockTolerance = 5;

/** Longer tokens are malformed. */
const maxTokenLength = 8192;
/** A JWS in compact form (RFC 7515 §7.1). */
const compactJws = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** How many verified tokens are cached. Only valid tokens are, so a client cannot fill the cache with forged ones. */
const maxVerifiedTokens = 10_000;

/**
 * Authenticates by JWT access tokens (RFC 9068, RFC 8725), sent as bearer tokens. Requires `npm install jose` (6 or newer).
 *
 * Signatures are verified with the keys of the issuer (JWKS), which are loaded every 10 minutes, and the result is
 * cached. `iss`, `aud`, `exp` and `nbf` are checked on every request, with 5 s for differences of clocks. A token of an
 * unknown key waits until the key set was loaded again, which is at most once a second, before it is rejected. While
 * the issuer is unavailable, tokens with unknown keys get 503, not 401, and known keys stay valid for a day.
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
  // jose 5 has no deadline for the body of a key set, and jose 4 lacks functions that are used here. On Node, both use its
  // own crypto; the declarations are those of jose 6.
  if ((cryptoRuntime as string) !== 'WebCryptoAPI') {
    throw new GatewayError('jwt() needs jose 6 or newer, found an older one. Run `npm install jose`.');
  }
  const common = commonMembers('jwt', options, rules);
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
  const requiresSubject = /^(?:application\/)?at\+jwt$/i.test(type ?? '');
  const checks: JWTVerifyOptions = {
    issuer,
    audience: typeof audience === 'string' ? audience : [...audience],
    algorithms: [...algorithms],
    requiredClaims: ['exp'],
    clockTolerance,
    ...(type !== undefined && { typ: type }),
  };
  const keys = issuerKeys(options.jwksUri);
  /** `verifyAfter` is a time of `Date.now()`, after which the signature is verified with newer keys. */
  const verifiedTokens = new RecentMap<{ claims: JwtClaims; verifyAfter: number }>(maxVerifiedTokens);

  async function verifyToken(token: string): Promise<JwtClaims | undefined> {
    const startedAt = performance.now();
    await keys.available();
    // Read before the token is verified: keys that are loaded meanwhile did not verify it.
    let verifyAfter = keys.expireAt();
    let claims = await claimsOf(token, keys.find, checks);
    if (claims === 'unknown key') {
      await keys.loadedSince(startedAt);
      verifyAfter = keys.expireAt();
      claims = await claimsOf(token, keys.find, checks);
    }
    if (!claims || claims === 'unknown key' || (requiresSubject && !isFilled(claims.sub))) return undefined;
    verifiedTokens.set(token, { claims, verifyAfter });
    return claims;
  }

  return {
    ...common,
    ...(scopes && { scopes }),
    document: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token.' },
    ...bearerMembers(
      'access token',
      realm,
      protectedResource && { authorizationServers: [issuer], ...protectedResource },
    ),
    read: readJwt,
    oauthClient(token) {
      const { azp, client_id: id = azp } = decodeJwt(token);
      return typeof id === 'string' ? id : undefined;
    },
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

/** How many tokens with unknown keys may wait for newer keys at once. */
const maxWaiting = 100;

/** How old keys may be before they are loaded again. A key that the issuer withdraws is accepted until then. */
const maxAgeMs = 600_000;

/** How long known keys are used while the issuer is unavailable. */
const maxStaleMs = 86_400_000;

/** The issuer's keys (RFC 7517 §5). jose limits requests only after a success, so when to request is decided here. */
function issuerKeys(jwksUri: string) {
  const find = createRemoteJWKSet(new URL(jwksUri), { cacheMaxAge: maxStaleMs, cooldownDuration: Infinity });
  /** When the last request started, and the last successful one (`performance.now()`). */
  let requestedAt = -Infinity;
  let loadedAt = -Infinity;
  /** A time of `Date.now()`. */
  let expiresAt = 0;
  /** The error of the last request. */
  let failure: TRPCError | undefined;
  let waiting = 0;

  async function load(): Promise<void> {
    if (!find.reloading) {
      const now = performance.now();
      if (failure && now < requestedAt + minIntervalMs) throw failure;
      requestedAt = now;
    }
    const startedAt = requestedAt;
    const nextExpiresAt = Date.now() + maxAgeMs;
    try {
      await find.reload();
    } catch (cause) {
      failure = keysUnavailable(cause);
      throw failure;
    }
    failure = undefined;
    loadedAt = startedAt;
    expiresAt = nextExpiresAt;
  }

  return {
    find,
    expireAt: () => expiresAt,
    /** Loads the keys if none are young enough; keys past the maximum age are renewed in the background. */
    async available(): Promise<void> {
      if (!find.fresh) await load();
      else if (Date.now() >= expiresAt) load().catch(() => {});
    },
    /** Resolves when the keys were requested after a time (`performance.now()`), and have every key published before it. */
    async loadedSince(time: number): Promise<void> {
      if (loadedAt >= time) return;
      if (waiting >= maxWaiting) throw keysUnavailable();
      waiting += 1;
      try {
        while (loadedAt < time) {
          const waitMs = requestedAt + minIntervalMs - performance.now();
          if (find.reloading || failure || waitMs <= 0) await load();
          else await new Promise((resolve) => setTimeout(resolve, waitMs));
        }
      } finally {
        waiting -= 1;
      }
    },
  };
}

/** The error while keys cannot be loaded. The token may be valid, so it is a 503, not a 401. */
const keysUnavailable = (cause?: unknown): TRPCError =>
  new TRPCError({
    code: 'SERVICE_UNAVAILABLE',
    message: 'Access tokens cannot be verified at the moment. Try again later.',
    cause,
  });

/** Claims; `undefined` if invalid, `'unknown key'` if newer keys may verify. @throws {TRPCError} for a private key */
async function claimsOf(
  token: string,
  key: JWTVerifyGetKey,
  checks: JWTVerifyOptions,
): Promise<JwtClaims | 'unknown key' | undefined> {
  try {
    return (await jwtVerify(token, key, checks)).payload;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown key';
    if (error instanceof errors.JWKSInvalid) throw keysUnavailable(error);
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      for await (const each of error) {
        try {
          return (await jwtVerify(token, each, checks)).payload;
        } catch (errorOfKey) {
          if (!isOfKey(errorOfKey)) return undefined;
        }
      }
    } else if (!isOfKey(error)) {
      return undefined;
    }
    // A token without `kid` (RFC 7515 §4.1.4) may be signed by any key of its type, also by a newer one.
    return decodeProtectedHeader(token).kid === undefined ? 'unknown key' : undefined;
  }
}

/** Whether another key may verify it: the signature differs, or the key is unusable, such as RSA below 2,048 bits. */
const isOfKey = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) || error instanceof errors.JWSSignatureVerificationFailed;

const scopesOfClaims = (claims: unknown): readonly string[] => {
  const { scope } = claims as { readonly scope?: unknown };
  return typeof scope === 'string' ? scope.split(' ') : [];
};
