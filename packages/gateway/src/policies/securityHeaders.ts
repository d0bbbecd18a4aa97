import type { Header } from '../http/response.ts';
import type { Policy } from './policy.ts';

/**
 * Adds the headers of OWASP's REST Security Cheat Sheet that concern JSON: `X-Content-Type-Options: nosniff`, and
 * `Cache-Control: no-store` where a credential had a part in the response. The others guard documents that a browser
 * shows. A router without `authenticate` answers tRPC requests with the headers of tRPC's adapters alone.
 */
export function securityHeadersPolicy(isProtected: boolean): Policy<unknown> {
  const withNosniff = addedOnce(['x-content-type-options', 'nosniff']);
  const withNoStore = addedOnce(['cache-control', 'no-store']);
  return {
    complete({ protocol, isAnonymous }, response) {
      const isPrivate = isProtected && !isAnonymous && protocol !== 'other';
      if (isPrivate && response.header('cache-control') === undefined) {
        response.sharedHeaders = withNoStore(response.sharedHeaders);
      }
      if (protocol === 'rpc' && !isProtected) return;
      if (response.header('x-content-type-options') === undefined) {
        response.sharedHeaders = withNosniff(response.sharedHeaders);
      }
    },
  };
}

/** Adds a header to shared ones, once for all responses that share them. */
function addedOnce(header: Header): (shared: readonly Header[]) => readonly Header[] {
  const extended = new WeakMap<readonly Header[], readonly Header[]>();
  return (shared) => {
    const known = extended.get(shared);
    if (known) return known;
    const all = [...shared, header];
    extended.set(shared, all);
    return all;
  };
}
