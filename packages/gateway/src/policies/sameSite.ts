import type { HttpRequest } from '../http/request.ts';
import { originMatcher, type Origins } from './origins.ts';
import { createSocketOrigins } from './socketOrigins.ts';

/**
 * Whether a request comes from the server's own pages, from pages of `origins`, from its user (a link that is typed) or
 * from a program that is no browser. Asked of requests that can change something and whose credential a browser adds.
 */
export type SameSite = (request: HttpRequest) => boolean;

/**
 * Decides by `Sec-Fetch-Site` (W3C Fetch Metadata), which pages cannot set; without it by `Origin`, and without both no
 * browser has sent the request. A sibling subdomain (`same-site`) is another site: it may be anybody's.
 * @param origins whose pages may use the credentials of their visitors here
 * @param publicOrigin the server's own origin behind a proxy, which may have written another `Host`
 */
export function createSameSite(origins: Origins, publicOrigin: string | undefined): SameSite {
  const trusts = originMatcher(origins);
  const hasOwnOrigin = createSocketOrigins(origins, publicOrigin);
  return (request) => {
    const site = request.header('sec-fetch-site');
    if (site === undefined) return hasOwnOrigin(request);
    if (site === 'same-origin' || site === 'none') return true;
    const origin = request.header('origin');
    return origin !== undefined && trusts(origin, request);
  };
}

/** Methods that change nothing (RFC 9110 §9.2.1, RFC 10008). `OPTIONS` is answered before any credential is read. */
export const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY']);
