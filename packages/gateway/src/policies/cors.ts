import { GatewayError } from '../procedures/gatewayError.ts';
import { token } from '../http/headers.ts';
import { originMatcher, requireOrigins, type Origins } from './origins.ts';
import type { Header } from '../http/response.ts';
import type { Policy } from './policy.ts';
import type { RequestScope } from './requestScope.ts';

/** Which pages of other origins may call (WHATWG Fetch, "HTTP CORS protocol"). */
export interface CorsOptions {
  /**
   * Exact origins, as browsers send them: `https://pets.example`. A `*` in the first label of a host with two further ones
   * stands for the name of a preview deployment: `https://pets-*.vercel.app` (letters, digits and hyphens). Or a
   * synchronous function that returns `true` for the origins that may call: keep in memory what it needs. Pages of these
   * may also open WebSockets, and use cookies where `credentials` is set.
   */
  readonly origins: Origins;
  /** Whether pages may send cookies and client certificates. A bearer token needs no such leave. Default: false. */
  readonly credentials?: boolean;
  /**
   * Request headers that pages may send, beside `Authorization`, `Content-Type`, those that tRPC and tracing need, and
   * those that metadata describes (`requestHeaders`).
   */
  readonly allowHeaders?: readonly string[];
  /**
   * Response headers that pages may read, beside those that the gateway writes and those that metadata describes
   * (`responseHeaders`).
   */
  readonly exposeHeaders?: readonly string[];
  /** How long a browser may keep a preflight's answer, in seconds. Default: 7200, the most that Chromium does. */
  readonly maxAgeSeconds?: number;
}

/** The headers that a router's metadata describes, and its methods. */
export interface DescribedHeaders {
  readonly request: readonly string[];
  readonly response: readonly string[];
  readonly methods: readonly string[];
}

const alwaysExposed =
  'Link, Location, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, X-Request-Id, Idempotent-Replayed';
const alwaysAllowed =
  'Authorization, Content-Type, Idempotency-Key, Grpc-Timeout, trpc-accept, Last-Event-ID, traceparent';

const vary = ['vary', 'Origin'] as const;

/** @throws {GatewayError} for an invalid origin or header name */
export function corsPolicy(
  { origins, credentials = false, allowHeaders = [], exposeHeaders = [], maxAgeSeconds = 7200 }: CorsOptions,
  described: DescribedHeaders,
): Policy<unknown> {
  requireNames('allowHeaders', allowHeaders);
  requireNames('exposeHeaders', exposeHeaders);
  const allowed = eachOnce(alwaysAllowed, described.request, allowHeaders);
  const exposed = eachOnce(alwaysExposed, described.response, exposeHeaders);
  requireOrigins('cors.origins', origins);
  const matches = originMatcher(origins);
  /** What a function throws is for the log: the origin may not call. */
  function allows(origin: string | undefined, scope: RequestScope): origin is string {
    if (origin === undefined) return false;
    try {
      return matches(origin, scope.request);
    } catch (cause) {
      scope.error ??= cause;
      return false;
    }
  }
  const atNoPath = eachOnce(anyMethod, described.methods);
  const withCredentials: readonly Header[] = credentials
    ? [['access-control-allow-credentials', 'true']]
    : [];
  const toPreflights: readonly Header[] = [
    ['access-control-allow-headers', allowed],
    ['access-control-max-age', String(maxAgeSeconds)],
  ];

  function headers(scope: RequestScope, allow: string | undefined): readonly Header[] {
    const origin = scope.request.header('origin');
    // Also without an origin: the response to the next page would differ.
    if (!allows(origin, scope)) return [vary];
    return [
      ['access-control-allow-origin', origin],
      ...withCredentials,
      ...(allow === undefined
        ? ([['access-control-expose-headers', exposed]] as const)
        : ([['access-control-allow-methods', allow], ...toPreflights] as const)),
      vary,
    ];
  }

  return {
    complete(scope, response) {
      const { request } = scope;
      if (request.method !== 'OPTIONS') {
        if (response.header('access-control-allow-origin') !== undefined) return;
        for (const header of headers(scope, undefined)) response.headers.push(header);
        return;
      }
      if (response.status === 404 && isPreflight(scope)) {
        // A browser goes no further where the preflight fails, and hides the 404 from its page (WHATWG Fetch §4.8).
        response.status = 204;
        response.headers = [];
        response.sharedHeaders = [];
        response.body = undefined;
        for (const header of headers(scope, atNoPath)) response.headers.push(header);
        return;
      }
      for (const header of headers(scope, response.header('allow'))) response.headers.push(header);
    },
  };

  function isPreflight(scope: RequestScope): boolean {
    const { request } = scope;
    return (
      request.header('access-control-request-method') !== undefined && allows(request.header('origin'), scope)
    );
  }
}

/** The methods that a page may use at a path where there is nothing, so that it sees the 404. */
const anyMethod = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** A list of names, whose case does not matter. */
function eachOnce(always: string, ...others: readonly (readonly string[])[]): string {
  const names = new Map<string, string>();
  for (const name of [...always.split(', '), ...others.flat()]) {
    if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  }
  return [...names.values()].join(', ');
}

function requireNames(option: 'allowHeaders' | 'exposeHeaders', names: readonly string[]): void {
  for (const name of names) {
    if (token.test(name)) continue;
    throw new GatewayError(
      `cors.${option} names "${name}", which is not a header name: write it as X-Csrf-Token, without spaces or commas.`,
    );
  }
}
