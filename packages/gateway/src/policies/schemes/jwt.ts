// The import `@petstore/gateway/jwt`, apart so that a service without JWTs needs no jose.
import { errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose';
import type { HttpRequest } from '../../http/request.ts';
import { formatValue } from '../../http/formatValue.ts';
import { unknownOptions } from '../../http/unknownOptions.ts';
import { GatewayError } from '../../procedures/gatewayError.ts';
import { RecentMap } from '../recentMap.ts';
import type { HeaderSource, Rejected, Scheme } from '../scheme.ts';
import { bearerChallenge, bearerReads, bearerToken } from './bearer.ts';
import { KeySet, unavailable, type Keys } from './keySet.ts';
import { defaultRealm, schemeNames, type SchemeOptions } from './options.ts';
import { protectedResource, type ProtectedResourceOptions } from './protectedResource.ts';

export interface JwtOptions<Identity> extends Omit<SchemeOptions<Identity>, 'verify'> {
  /** The `iss` of its tokens. */
  readonly issuer: string;
  /** The `aud` of its tokens: this service. Of several one must match. */
  readonly audience: string | readonly string[];
  /** The URL of the issuer's keys, such as `https://login.example/.well-known/jwks.json`. */
  readonly jwksUri: string;
  /** The signature algorithms that are accepted, all of public keys. Default: RS, PS and ES with each length, and EdDSA. */
  readonly algorithms?: readonly string[];
  /** The `typ` of its tokens, such as `at+jwt` (RFC 9068), so that no other token of the issuer is accepted. Default: any. */
  readonly type?: string;
  /** How far the issuer's clock may be off, in seconds. Default: 5. */
  readonly clockToleranceSeconds?: number;
  /**
   * For how long the issuer's keys are used before they are read again, in seconds: a key that the issuer withdraws is
   * good for as long. A key that is not known is read at once. Default: 600.
   */
  readonly maxAgeSeconds?: number;
  /**
   * Returns whose claims they are, or a falsy value to reject them: once per request, also where the signature was checked
   * before. Default: the claims are the identity.
   */
  readonly verify?: (
    claims: JWTPayload,
    request: HttpRequest,
  ) => Identity | Rejected | PromiseLike<Identity | Rejected>;
  /** Default: the claim `scope` (RFC 9068 §2.2.3), where the claims are the identity. */
  readonly scopes?: (identity: Identity) => readonly string[];
  /** Serves metadata by which clients find the issuer (RFC 9728). Its `authorizationServers` default to the issuer. */
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
const compact = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** How many verified tokens are remembered. Only good ones are: nobody can fill the memory with others. */
const mostVerified = 10_000;

interface Verified {
  readonly claims: JWTPayload;
  /** With these keys. */
  readonly keys: Keys;
  /** By `Date.now()`. */
  readonly expiresAt: number;
}

/**
 * Access tokens that are JWTs (RFC 9068, RFC 8725), as bearer tokens. Signatures are checked by the keys of the issuer (JWKS)
 * and remembered; `iss`, `aud`, `exp` and `nbf` are always checked. A key that is not known is looked up before its token
 * is rejected, and while the issuer is away such a token is 503, not 401; tokens of known keys are served for a day.
 *
 * Clients get a new token now and then: with `rateLimit`, name its caller by `key: ({ identity }) => identity?.sub ?? ''`.
 *
 * It needs the package jose: `npm install jose`.
 * @throws {GatewayError} for options that cannot be right
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
  const verified = new RecentMap<Verified>(mostVerified);

  async function claimsOf(
    token: string,
    begun: number,
    current: Keys | Promise<Keys>,
  ): Promise<JWTPayload | undefined> {
    let keys = await current;
    let claims = await check(token, keys, checks);
    if (claims === 'unknown key') {
      keys = await keySet.since(begun);
      claims = await check(token, keys, checks);
      if (claims === 'unknown key') return undefined;
    }
    if (claims === undefined) return undefined;
    const { exp = 0 } = claims;
    verified.set(token, { claims, keys, expiresAt: (exp + clockToleranceSeconds) * 1000 });
    return claims;
  }

  return {
    name,
    noun: 'access token',
    usage: '"Authorization: Bearer <access token>"',
    reads: bearerReads,
    isAmbient: false,
    document,
    ...(resource && { protectedResource: resource.served }),
    read: readJwt,
    verify(token, request) {
      const begun = performance.now();
      const known = verified.get(token);
      // Whatever its issuer's keys are, and also while they cannot be read: what goes on with it must end.
      if (known && Date.now() >= known.expiresAt) return undefined;
      const keys = keySet.current();
      if (known?.keys === keys) return identify(known.claims, request);
      return claimsOf(token, begun, keys).then((claims) => claims && identify(claims, request));
    },
    ...(scopes && { scopes }),
    challenge: bearerChallenge(realm, resource?.url),
  };
}

/** @throws {GatewayError} */
function checksOf<Identity>(
  { algorithms = publicKeyAlgorithms, audience, issuer, jwksUri, type }: JwtOptions<Identity>,
  clockTolerance: number,
): JWTVerifyOptions {
  // A variable of the environment that is not set would have every issuer's tokens accepted.
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
    throw new GatewayError('jwt: issuer and audience must not be empty: tokens of others would be accepted.');
  }
  const unknown = algorithms.find((each) => !publicKeyAlgorithms.includes(each));
  if (unknown !== undefined || algorithms.length === 0) {
    throw new GatewayError(
      `jwt: algorithms names ${unknown ?? 'none'}: name some of ${publicKeyAlgorithms.join(', ')}.`,
    );
  }
  const url = URL.parse(jwksUri);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new GatewayError(`jwt: jwksUri is "${jwksUri}": it must be an https URL.`);
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
  return token.length <= maxTokenLength && compact.test(token) ? token : null;
}

/** The claims of a token; `undefined` where it is not valid. */
async function check(
  token: string,
  keys: Keys,
  checks: JWTVerifyOptions,
): Promise<JWTPayload | 'unknown key' | undefined> {
  try {
    return await claimsBy(token, keys, checks);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown key';
    // A token need not name its key (RFC 7515 §4.1.4), which may then be one that is not known yet.
    if (error instanceof errors.JWSSignatureVerificationFailed && !namesKey(token)) return 'unknown key';
    if (error instanceof errors.JWKSInvalid) throw unavailable(error);
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

async function claimsBy(token: string, keys: Keys, checks: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, checks)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, checks)).payload;
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Of a token whose header jose could read. */
function namesKey(token: string): boolean {
  const header = token.slice(0, token.indexOf('.')).replaceAll('-', '+').replaceAll('_', '/');
  return 'kid' in (JSON.parse(atob(header)) as object);
}

const scopesOfClaims = (claims: unknown): readonly string[] => {
  const { scope } = claims as { readonly scope?: unknown };
  return typeof scope === 'string' ? scope.split(' ') : [];
};
