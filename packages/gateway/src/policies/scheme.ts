import type { HttpRequest } from '../http/request.ts';

/** Falsy values with which `verify` rejects a credential. */
export type Rejected = null | undefined | false;

/**
 * Returns whose credential it is, or a falsy value for an invalid or revoked one. It throws where that cannot be decided:
 * a `TRPCError` is the response, such as `SERVICE_UNAVAILABLE` while keys cannot be read.
 */
export type Verify<Identity> = (
  credential: string,
  request: HttpRequest,
) => Identity | Rejected | PromiseLike<Identity | Rejected>;

/**
 * Headers of a request. Browsers can send none with a WebSocket or an `EventSource`: of those, tRPC's connection
 * parameters stand in for headers that the request does not have.
 */
export interface HeaderSource {
  /** @param name in lower case */
  header(name: string): string | undefined;
}

/** A Security Scheme Object of OpenAPI 3.1 (§4.8.27). */
export interface SecurityScheme {
  readonly type: 'apiKey' | 'http' | 'mutualTLS' | 'oauth2' | 'openIdConnect';
  readonly description?: string;
  readonly [field: string]: unknown;
}

/** The metadata of an OAuth 2.0 protected resource (RFC 9728). */
export interface ProtectedResource {
  /** The path at which it is served. */
  readonly path: `/${string}`;
  /** @param scopes every scope that a procedure requires */
  document(scopes: readonly string[]): object;
}

/** A way to authenticate: how a credential is read, verified, asked for and documented. */
export interface Scheme<Identity = unknown> {
  /** Its name among the document's `securitySchemes`. */
  readonly name: string;
  /** What a message calls the credential: `API key`. */
  readonly noun: string;
  /** What to send, as the message of a 401 says it: `"Authorization: Bearer <token>"`. */
  readonly usage: string;
  /**
   * What it reads all credentials of, such as a cookie: of two schemes that read the same, the second is never looked at.
   * `undefined` where it leaves some to another scheme.
   */
  readonly reads?: string | undefined;
  /**
   * Whether browsers add the credential on their own, also to what a page of another site sends. Such requests are
   * rejected (403) where they can change something.
   */
  readonly isAmbient: boolean;
  readonly document: SecurityScheme;
  readonly protectedResource?: ProtectedResource | undefined;
  /** @returns `undefined` where there is no credential of this scheme, `null` where it is malformed */
  read(source: HeaderSource, request: HttpRequest): string | null | undefined;
  readonly verify: Verify<Identity>;
  /** The scopes that an identity has. Without it no procedure that requires scopes can be called by this scheme. */
  scopes?(this: void, identity: Identity): readonly string[];
  /**
   * The challenge of a 401 (RFC 9110 §11.6.1); of a 403 where scopes are missing.
   * @returns `undefined` where the scheme has no challenge for this error
   */
  challenge(error?: ChallengeError): string | undefined;
}

export type ChallengeError =
  | { readonly error: 'invalid_token' }
  | { readonly error: 'insufficient_scope'; readonly scope: string };
