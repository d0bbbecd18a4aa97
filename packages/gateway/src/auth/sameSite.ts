import type { HttpRequest } from '../http/request.ts';
import { originMatcher, type Origins } from './origins.ts';
import { createSocketOrigins } from './socketOrigins.ts';

/**
 * Whether a request comes from the server's own pages, from pages of `origins`, from the user directly (a typed URL),
 * or from a program that is not a browser. It is checked for requests that can change state with a credential that
 * browsers send automatically.
 */
export type SameSite = (request: HttpRequest) => boolean;

/**
 * Creates the check. It uses `Sec-Fetch-Site` (W3C Fetch Metadata), which pages cannot set, or `Origin` if that is
 * missing. A request with neither was not sent by a browser. A sibling subdomain (`same-site`) counts as another site,
 * because it may have another owner.
 * @param origins the origins whose pages may use the credentials of their visitors here
 * @param publicOrigin the server's own origin, for a proxy that changes `Host`
 */
export function createSameSite(origins: Origins, publicOrigin: string | undefined): SameSite {
  const allowsOrigin = originMatcher(origins);
  const hasOwnOrigin = createSocketOrigins(origins, publicOrigin);
  return (request) => {
    const site = request.header('sec-fetch-site');
    if (site === undefined) return hasOwnOrigin(request);
    if (site === 'same-origin' || site === 'none') return true;
    const origin = request.header('origin');
    return origin !== undefined && allowsOrigin(origin, request);
  };
}

/** The safe methods (RFC 9110 §9.2.1, RFC 10008). `OPTIONS` is handled before any credential is read. */
export const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY']);
