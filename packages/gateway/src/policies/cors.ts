import { originMatcher, passesOriginCheck, requireOrigins, type Origins } from '../auth/origins.ts';
import type { Header } from '../http/response.ts';
import type { RequestPolicy } from '../calls/requestContext.ts';

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

const alwaysExposed =
  'Link, Location, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, X-Request-Id, Idempotent-Replayed';

/** How long browsers may cache a preflight response, in seconds: Chromium's maximum. */
const maxAgeSeconds = 7200;

const vary: Header = ['vary', 'Origin'];

/** Adds CORS headers and responds to preflights. @throws {GatewayError} for an invalid origin */
export function corsPolicy(
  { origins, credentials = false }: CorsOptions,
  describedHeaders: readonly string[],
): RequestPolicy {
  const exposedNames = new Set([...alwaysExposed.split(', '), ...describedHeaders]);
  const exposed: Header = ['access-control-expose-headers', [...exposedNames].join(', ')];
  requireOrigins('cors.origins', origins);
  const matches = originMatcher(origins);
  return {
    complete(context, response) {
      const { request } = context;
      const isOptions = request.method === 'OPTIONS';
      if (!isOptions && response.get('access-control-allow-origin') !== undefined) return;
      const origin = request.header('origin');
      if (origin === undefined || !passesOriginCheck(() => matches(origin, request), context)) {
        // A cache must not serve this response to a page.
        response.headers.push(vary);
        return;
      }
      const methods = isOptions
        ? (response.get('allow') ?? request.header('access-control-request-method'))
        : undefined;
      if (methods !== undefined && response.status === 404) {
        // If the preflight fails, a browser hides the 404 from its page (WHATWG Fetch §4.8).
        response.status = 204;
        response.headers = [];
        response.sharedHeaders = [];
        response.body = undefined;
      }
      const { headers } = response;
      headers.push(['access-control-allow-origin', origin]);
      if (credentials) headers.push(['access-control-allow-credentials', 'true']);
      if (methods === undefined) headers.push(exposed);
      else {
        headers.push(
          ['access-control-allow-methods', methods],
          ['access-control-max-age', String(maxAgeSeconds)],
        );
        // Every header that the page asks for is allowed.
        const requested = request.header('access-control-request-headers');
        if (requested !== undefined) headers.push(['access-control-allow-headers', requested]);
      }
      headers.push(vary);
    },
  };
}
