import { memberNames, unknownOptions } from '../../http/unknownOptions.ts';
import { GatewayError } from '../../procedures/gatewayError.ts';
import type { ProtectedResource } from '../../calls/scheme.ts';

/** The metadata of an OAuth 2.0 protected resource (RFC 9728 §2). */
export interface ProtectedResourceOptions {
  /** The resource identifier: the https URL of the API, without query and fragment. Clients request tokens for it. */
  readonly resource: string;
  /** The issuer URLs of the authorization servers. */
  readonly authorizationServers: readonly string[];
  /** The supported scopes. Default: all scopes that any procedure requires. */
  readonly scopes?: readonly string[];
  /** The human-readable name of the resource. */
  readonly name?: string;
  /** The URL of the documentation for developers. */
  readonly documentation?: string;
}

const optionNames = memberNames<ProtectedResourceOptions>({
  resource: true,
  authorizationServers: true,
  scopes: true,
  name: true,
  documentation: true,
});

const wellKnown = '/.well-known/oauth-protected-resource';

/**
 * Creates the metadata of a protected resource, and its URL, which challenges contain (RFC 9728 §5.1).
 * @throws {GatewayError} for an unknown option, or an identifier that is not an http(s) URL without query and fragment
 */
export function protectedResource(options: ProtectedResourceOptions): {
  readonly url: string;
  readonly served: ProtectedResource;
} {
  const unknown = unknownOptions('protectedResource', options, optionNames);
  if (unknown.length > 0) throw new GatewayError(unknown.join('\n'));
  const { resource, authorizationServers, scopes, name, documentation } = options;
  const url = URL.parse(resource);
  if (!url || !/^https?:$/.test(url.protocol) || /[?#]/.test(resource)) {
    throw new GatewayError(
      `protectedResource.resource is "${resource}"; it must be an https URL without query and fragment, such as https://api.example/pets.`,
    );
  }
  // RFC 9728 §3.1: the well-known path is inserted between the host and the path, without a trailing slash after the
  // host.
  const path = `${wellKnown}${url.pathname === '/' ? '' : url.pathname}` as const;
  const document = (required: readonly string[]) => ({
    resource,
    authorization_servers: authorizationServers,
    // RFC 9728 §2: empty lists are omitted.
    ...((scopes ?? required).length > 0 && { scopes_supported: scopes ?? required }),
    bearer_methods_supported: ['header'],
    ...(name !== undefined && { resource_name: name }),
    ...(documentation !== undefined && { resource_documentation: documentation }),
  });
  return { url: `${url.origin}${path}`, served: { path, document } };
}
