import { isObject } from '../../http/isObject.ts';
import { isText, isTextList, optional, type OptionRules, required, text } from '../../checks/optionRules.ts';
import { metadataPath, type HeaderSource, type ProtectedResource, type Scheme } from '../../calls/scheme.ts';
import { challengeOf, commonMembers, type SchemeOptions } from './options.ts';

/** Options of `bearer()`. */
export interface BearerOptions<Identity> extends SchemeOptions<Identity> {
  /** The noun for the token in error messages, such as `API key`. Default: `token`. */
  readonly noun?: string;
  /** Serves the metadata by which clients discover the authorization server (RFC 9728). */
  readonly protectedResource?: ProtectedResourceOptions;
}

/** The metadata of an OAuth 2.0 protected resource (RFC 9728 §2). */
export interface ProtectedResourceOptions {
  /** The resource identifier: the https URL of the API, without query and fragment. Clients request tokens for it. */
  readonly resource: string;
  /** The issuer URLs of the authorization servers. */
  readonly authorizationServers: readonly string[];
}

export const isHttpUrl = (value: unknown): value is string =>
  isText(value) && /^https?:$/.test(URL.parse(value)?.protocol ?? '');

/** The rule of the option `protectedResource`, as `bearer` and `jwt` have it. */
export const protectedResourceRule = (authorizationServers: typeof optional) =>
  optional(isObject, "an object, such as protectedResource: { resource: 'https://api.example' }", {
    resource: required(
      (value) => isHttpUrl(value) && !/[?#]/.test(value),
      'an https URL without query and fragment, such as https://api.example/pets',
    ),
    authorizationServers: authorizationServers(isTextList, 'an array of issuer URLs'),
  } satisfies OptionRules<ProtectedResourceOptions>);

const rules = {
  noun: text,
  protectedResource: protectedResourceRule(required),
};

/**
 * Authenticates by a bearer token in the `Authorization` header (RFC 6750).
 *
 * ```ts
 * authentication: bearer({ verify: (token) => users.get(token) })
 * ```
 */
export function bearer<Identity>(options: BearerOptions<Identity>): Scheme<Identity> {
  const common = commonMembers('bearer', options, rules);
  const { verify, realm, noun = 'token' } = options;
  return {
    ...common,
    document: {
      type: 'http',
      scheme: 'bearer',
      description: options.noun === undefined ? 'A bearer token.' : `The ${noun}, as a bearer token.`,
    },
    ...bearerMembers(noun, realm, options.protectedResource),
    read: bearerToken,
    verify,
  };
}

/** Returns the members that all schemes with bearer tokens share. */
export function bearerMembers(
  noun: string,
  realm: string | undefined,
  metadata: ProtectedResourceOptions | undefined,
): Pick<Scheme, 'noun' | 'usage' | 'reads' | 'header' | 'isAmbient' | 'protectedResource' | 'challenge'> {
  const resource = metadata && protectedResource(metadata);
  return {
    noun,
    usage: `"Authorization: Bearer <${noun}>"`,
    reads: '"Authorization: Bearer"',
    header: 'authorization',
    isAmbient: false,
    protectedResource: resource,
    challenge: bearerChallenge(realm, resource?.url),
  };
}

// RFC 6750 §2.1: b64token. The scheme's name is case-insensitive (RFC 9110 §11.1).
const bearerScheme = /^bearer(?: |$)/i;
const bearerHeader = /^bearer +[A-Za-z0-9\-._~+/]+=* *$/i;

/** Reads a bearer token. `Authorization` with another scheme counts as no credential (RFC 6750 §3.1). */
export function bearerToken(source: HeaderSource): string | null | undefined {
  const authorization = source.header('authorization');
  if (authorization === undefined) return undefined;
  // Not `exec`, whose result takes 150 bytes of each request.
  if (bearerHeader.test(authorization)) return authorization.slice('bearer '.length).trim();
  return bearerScheme.test(authorization) ? null : undefined;
}

/** RFC 6750 §3: no error code for a missing credential. @throws {GatewayError} for an invalid realm */
function bearerChallenge(realm?: string, resourceMetadata?: string): Scheme['challenge'] {
  const challengeWith = (error: Parameters<Scheme['challenge']>[0]) =>
    challengeOf('Bearer', { realm, ...error, resource_metadata: resourceMetadata });
  const missing = challengeWith(undefined);
  return (error) => (error ? challengeWith(error) : missing);
}

/** Creates the metadata of a protected resource, and its URL, which challenges contain (RFC 9728 §5.1). */
function protectedResource({
  resource,
  authorizationServers,
}: ProtectedResourceOptions): ProtectedResource & { readonly url: string } {
  const { origin, pathname } = new URL(resource);
  // RFC 9728 §3.1: the well-known path comes between host and path, without a trailing slash after the host.
  const path = `${metadataPath}${pathname === '/' ? '' : pathname}` as const;
  const document = (scopes: readonly string[]) => ({
    resource,
    authorization_servers: authorizationServers,
    // RFC 9728 §2: empty lists are omitted.
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
  });
  return { url: `${origin}${path}`, path, document };
}
