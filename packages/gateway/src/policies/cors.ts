import { originMatcher, requireOrigins, type Origins } from '../auth/origins.ts';
import type { Header } from '../http/response.ts';
import type { RequestPolicy, RequestScope } from '../calls/requestScope.ts';

/** CORS: which pages of other origins may call (WHATWG Fetch, "HTTP CORS protocol"). */
export interface CorsOptions {
  /**
   * The allowed origins. Pages of these origins may call, open WebSockets, and use cookies if `credentials` is set.
   * - Exact origins, as browsers send them: `https://pets.example`.
   * - A synchronous function that returns `true` for allowed origins. Keep the data that it needs in memory.
   */
  readonly origins: Origins;
  /** Whether pages may send cookies and client certificates. Bearer tokens do not need this. Default: false. */
  readonly credentials?: boolean;
}

/** The response headers and methods that a router's metadata describes. */
export interface DescribedHeaders {
  readonly response: readonly string[];
  readonly methods: readonly string[];
}

const alwaysExposed =
  'Link, Location, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, X-Request-Id, Idempotent-Replayed';

/** How long browsers may cache a preflight response, in seconds: Chromium's maximum. */
const maxAgeSeconds = 7200;

const vary = ['vary', 'Origin'] as const;

/**
 * Creates the policy that adds CORS headers and responds to preflights.
 * @throws {GatewayError} for an invalid origin
 */
export function corsPolicy(
  { origins, credentials = false }: CorsOptions,
  described: DescribedHeaders,
): RequestPolicy {
  const exposedHeaders = uniqueNames(alwaysExposed, described.response);
  requireOrigins('cors.origins', origins);
  const matches = originMatcher(origins);
  /** An origin is rejected if the service's function throws; the error is logged. */
  function allows(origin: string | undefined, scope: RequestScope): origin is string {
    if (origin === undefined) return false;
    try {
      return matches(origin, scope.request);
    } catch (cause) {
      scope.error ??= cause;
      return false;
    }
  }
  const methodsOfUnknownPath = uniqueNames(commonMethods, described.methods);
  const withCredentials: readonly Header[] = credentials
    ? [['access-control-allow-credentials', 'true']]
    : [];
  /** Allows every header that a page of an allowed origin asks for. */
  const preflightHeaders = ({ request }: RequestScope): readonly Header[] => {
    const requested = request.header('access-control-request-headers');
    return [
      ...(requested === undefined ? [] : [['access-control-allow-headers', requested] as const]),
      ['access-control-max-age', String(maxAgeSeconds)],
    ];
  };

  function corsHeaders(scope: RequestScope, allow: string | undefined): readonly Header[] {
    const origin = scope.request.header('origin');
    // Also without an origin: a cache must not serve this response to a page.
    if (!allows(origin, scope)) return [vary];
    return [
      ['access-control-allow-origin', origin],
      ...withCredentials,
      ...(allow === undefined
        ? ([['access-control-expose-headers', exposedHeaders]] as const)
        : ([['access-control-allow-methods', allow], ...preflightHeaders(scope)] as const)),
      vary,
    ];
  }

  return {
    complete(scope, response) {
      const { request } = scope;
      if (request.method !== 'OPTIONS') {
        if (response.get('access-control-allow-origin') !== undefined) return;
        for (const header of corsHeaders(scope, undefined)) response.headers.push(header);
        return;
      }
      if (response.status === 404 && isPreflight(scope)) {
        // If the preflight fails, a browser hides the 404 from its page (WHATWG Fetch §4.8).
        response.status = 204;
        response.headers = [];
        response.sharedHeaders = [];
        response.body = undefined;
        for (const header of corsHeaders(scope, methodsOfUnknownPath)) response.headers.push(header);
        return;
      }
      for (const header of corsHeaders(scope, response.get('allow'))) response.headers.push(header);
    },
  };

  function isPreflight(scope: RequestScope): boolean {
    const { request } = scope;
    return (
      request.header('access-control-request-method') !== undefined && allows(request.header('origin'), scope)
    );
  }
}

/** The methods that a preflight allows at an unknown path, so that the page sees the 404. */
const commonMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Joins header names with commas, each name once. Case does not matter. */
function uniqueNames(always: string, ...others: readonly (readonly string[])[]): string {
  const names = new Map<string, string>();
  for (const name of [...always.split(', '), ...others.flat()]) {
    if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  }
  return [...names.values()].join(', ');
}
