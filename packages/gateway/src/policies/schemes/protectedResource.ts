import { memberNames, unknownOptions } from '../../http/unknownOptions.ts';
import { GatewayError } from '../../procedures/gatewayError.ts';
import type { ProtectedResource } from '../scheme.ts';

/** The metadata of an OAuth 2.0 protected resource (RFC 9728 §2). */
export interface ProtectedResourceOptions {
  /** Its identifier: the https URL of the interface, without query and fragment. Clients ask for tokens for it. */
  readonly resource: string;
  /** The issuers of its tokens. */
  readonly authorizationServers: readonly string[];
  /** Default: every scope that a procedure requires. */
  readonly scopes?: readonly string[];
  /** Its name for people. */
  readonly name?: string;
  /** The URL of a page for developers. */
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
 * @returns what is served, and the URL of it, which challenges name (§5.1)
 * @throws {GatewayError} for an unknown option, and where the identifier is not an http or https URL, or has a query or a fragment
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
      `protectedResource.resource is "${resource}": it must be an https URL without query and fragment, such as https://api.example/pets.`,
    );
  }
  // §3.1: inserted between the host and the path, without a slash at the end of the host.
  const path = `${wellKnown}${url.pathname === '/' ? '' : url.pathname}` as const;
  const document = (required: readonly string[]) => ({
    resource,
    authorization_servers: authorizationServers,
    // §2: empty lists are left out.
    ...((scopes ?? required).length > 0 && { scopes_supported: scopes ?? required }),
    bearer_methods_supported: ['header'],
    ...(name !== undefined && { resource_name: name }),
    ...(documentation !== undefined && { resource_documentation: documentation }),
  });
  return { url: `${url.origin}${path}`, served: { path, document } };
}
