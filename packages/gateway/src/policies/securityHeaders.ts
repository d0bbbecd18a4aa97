// Hot path: every response runs through it.
import type { Header } from '../http/response.ts';
import type { RequestPolicy } from '../calls/requestContext.ts';

/**
 * The headers of OWASP's REST Security Cheat Sheet for JSON: `nosniff`, and `no-store` if a credential was used; the
 * others protect documents. Without `authentication`, tRPC responses have those of tRPC's adapters alone.
 */
export function securityHeadersPolicy(isProtected: boolean): RequestPolicy {
  const withBoth = addedOnce(nosniff, noStore);
  const withNosniff = addedOnce(nosniff);
  const withNoStore = addedOnce(noStore);
  return {
    complete({ protocol, isAnonymous }, response) {
      let isStored = !isProtected || isAnonymous || protocol === 'other';
      let isSniffed = protocol === 'trpc' && !isProtected;
      const { headers } = response;
      for (let at = 0; at < headers.length; at += 1) {
        const [name] = headers[at] as Header;
        // Compare the length first: it differs for nearly all headers.
        if (name.length === 13 && name.toLowerCase() === noStore[0]) isStored = true;
        else if (name.length === 22 && name.toLowerCase() === nosniff[0]) isSniffed = true;
      }
      if (isStored && isSniffed) return;
      const all = isStored ? withNosniff : isSniffed ? withNoStore : withBoth;
      const shared = response.sharedHeaders;
      response.sharedHeaders = all.extended.get(shared) ?? all.extend(shared);
    },
  };
}

const nosniff: Header = ['x-content-type-options', 'nosniff'];
const noStore: Header = ['cache-control', 'no-store'];

type SharedHeaders = readonly Header[];

/** Adds missing headers to a shared list of headers, and caches the extended list for all responses that share it. */
function addedOnce(...added: SharedHeaders) {
  const extended = new WeakMap<SharedHeaders, SharedHeaders>();
  const extend = (shared: SharedHeaders): SharedHeaders => {
    const names = new Set(shared.map(([name]) => name.toLowerCase()));
    const all = [...shared, ...added.filter(([name]) => !names.has(name))];
    extended.set(shared, all);
    return all;
  };
  return { extended, extend };
}
