import { GatewayError } from '../procedures/gatewayError.ts';
import { token } from '../http/headers.ts';
import type { HttpRequest } from '../http/request.ts';
import type { Header } from '../http/response.ts';
import type { Policy } from './policy.ts';

/** Which pages of other origins may call (WHATWG Fetch, "HTTP CORS protocol"). */
export interface CorsOptions {
  /** Exact origins, as browsers send them: `https://pets.example`. */
  readonly origins: readonly string[];
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
const alwaysAllowed = 'Authorization, Content-Type, Idempotency-Key, trpc-accept, Last-Event-ID, traceparent';

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
  for (const origin of origins) {
    if (!origin.includes('*') && URL.canParse(origin) && new URL(origin).origin === origin) continue;
    throw new GatewayError(
      `cors.origins names "${origin}", which is not an origin: write scheme, host and port alone, as https://pets.example.`,
    );
  }
  const known = new Set(origins);
  const atNoPath = eachOnce(anyMethod, described.methods);
  const withCredentials: readonly Header[] = credentials
    ? [['access-control-allow-credentials', 'true']]
    : [];
  const toPreflights: readonly Header[] = [
    ['access-control-allow-headers', allowed],
    ['access-control-max-age', String(maxAgeSeconds)],
  ];

  function headers(origin: string | undefined, allow: string | undefined): readonly Header[] {
    // Also without an origin: the response to the next page would differ.
    if (origin === undefined || !known.has(origin)) return [vary];
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
    complete({ request }, response) {
      const origin = request.header('origin');
      if (request.method !== 'OPTIONS') {
        if (response.header('access-control-allow-origin') !== undefined) return;
        for (const header of headers(origin, undefined)) response.headers.push(header);
        return;
      }
      if (response.status === 404 && isPreflight(request)) {
        // A browser goes no further where the preflight fails, and hides the 404 from its page (WHATWG Fetch §4.8).
        response.status = 204;
        response.headers = [];
        response.sharedHeaders = [];
        response.body = undefined;
        for (const header of headers(origin, atNoPath)) response.headers.push(header);
        return;
      }
      for (const header of headers(origin, response.header('allow'))) response.headers.push(header);
    },
  };

  function isPreflight(request: HttpRequest): boolean {
    return (
      request.header('access-control-request-method') !== undefined &&
      known.has(request.header('origin') ?? '')
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
