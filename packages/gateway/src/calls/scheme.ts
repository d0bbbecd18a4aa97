import type { HttpRequest } from '../http/request.ts';

/** Falsy values with which `verify` rejects a credential. */
export type Rejected = null | undefined | false;

/**
 * Resolves a credential to an identity, or to a falsy value if the credential is invalid or revoked. Throw if neither
 * can be decided: a `TRPCError` becomes the response, such as `SERVICE_UNAVAILABLE` while the key store is unavailable.
 */
export type Verify<Identity> = (
  credential: string,
  request: HttpRequest,
) => Identity | Rejected | PromiseLike<Identity | Rejected>;

/**
 * The headers of a request. Browsers cannot set headers on a WebSocket or an `EventSource`; for those, tRPC's
 * connection parameters are used for headers that the request does not have.
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

/** The path of the metadata of a protected resource, to which the path of the resource is added (RFC 9728 §3.1). */
export const metadataPath = '/.well-known/oauth-protected-resource';

/** The metadata of an OAuth 2.0 protected resource (RFC 9728). */
export interface ProtectedResource {
  /** The path that serves the metadata. */
  readonly path: `/${string}`;
  /** Returns the metadata. `scopes` are all that any procedure requires. */
  document(scopes: readonly string[]): object;
}

/** An authentication scheme: it reads, verifies and documents a credential, and creates the challenge of a 401. */
export interface Scheme<Identity = unknown> {
  /** The name of the scheme among the document's `securitySchemes`. */
  readonly name: string;
  /** The noun for the credential in error messages, such as `API key`. */
  readonly noun: string;
  /** The header to send, for the message of a 401: `"Authorization: Bearer <token>"`. */
  readonly usage: string;
  /**
   * Where the scheme reads its credential, such as a cookie, if it claims every credential there; `undefined` if it
   * leaves some to others. Two schemes with the same value are an error: the second would never be used.
   */
  readonly reads?: string | undefined;
  /** The header that contains the credential, in lower case. A request that has it twice is rejected with 401. */
  readonly header?: string;
  /**
   * Whether the scheme is unsafe with an adapter that removes bytes from headers, as uWebSockets.js does. `serve` of
   * such an adapter rejects the scheme. Default: false.
   */
  readonly needsExactHeaders?: boolean;
  /**
   * Whether browsers send the credential automatically, even with requests from pages of other sites (CSRF). Those
   * requests are rejected with 403 if they can change state.
   */
  readonly isAmbient: boolean;
  /** The entry in the document's `securitySchemes`. */
  readonly document: SecurityScheme;
  /** The RFC 9728 metadata to serve, if any. */
  readonly protectedResource?: ProtectedResource | undefined;
  /** Reads the credential: `undefined` if there is none of this scheme, `null` if it is malformed. */
  read(source: HeaderSource, request: HttpRequest): string | null | undefined;
  readonly verify: Verify<Identity>;
  /** Returns the scopes of an identity, synchronously. Without it, the scheme cannot call procedures that require scopes. */
  scopes?(this: void, identity: Identity): readonly string[];
  /** Returns the OAuth client to which a verified credential was issued. Without this function, it is not known. */
  oauthClient?(this: void, credential: string): string | undefined;
  /**
   * Returns the `WWW-Authenticate` challenge of a 401 (RFC 9110 §11.6.1), or of a 403 if scopes are missing.
   * @returns `undefined` if the scheme has no challenge for this error
   */
  challenge(error?: ChallengeError): string | undefined;
}

/** The error parameters of a challenge (RFC 6750 §3.1). */
type ChallengeError =
  | { readonly error: 'invalid_token' }
  | { readonly error: 'insufficient_scope'; readonly scope: string };
