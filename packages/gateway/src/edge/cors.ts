import { GatewayError } from '../gatewayError.ts';
import type { GatewayRequest, Header } from '../http.ts';

/** Which pages of other origins may call (WHATWG Fetch, "HTTP CORS protocol"). */
export interface CorsOptions {
  /** Exact origins, as browsers send them: `https://pets.example`. */
  readonly origins: readonly string[];
  /** Whether pages may send cookies and client certificates. A bearer token needs no such leave. Default: false. */
  readonly credentials?: boolean;
  /** How long a browser may keep a preflight's answer, in seconds. Default: 7200, the most that Chromium does. */
  readonly maxAgeSeconds?: number;
}

export interface Cors {
  /** What an answer says of it; `allow`: the methods of the path, where it is an answer to `OPTIONS`. */
  headers(origin: string | undefined, allow: string | undefined): readonly Header[];
  /** Whether a page that may call asks by it whether it may. */
  isPreflight(request: GatewayRequest): boolean;
}

const exposed =
  'Link, Location, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, X-Request-Id, Idempotent-Replayed';
const allowed = 'Authorization, Content-Type, Idempotency-Key, trpc-accept, Last-Event-ID, traceparent';

const vary = ['vary', 'Origin'] as const;

/** @throws {GatewayError} for what is no origin */
export function createCors({ origins, credentials = false, maxAgeSeconds = 7200 }: CorsOptions): Cors {
  for (const origin of origins) {
    if (!origin.includes('*') && URL.canParse(origin) && new URL(origin).origin === origin) continue;
    throw new GatewayError(
      `cors.origins names "${origin}", which is not an origin: write scheme, host and port alone, as https://pets.example.`,
    );
  }
  const known = new Set(origins);
  const withCredentials: readonly Header[] = credentials
    ? [['access-control-allow-credentials', 'true']]
    : [];
  const toPreflights: readonly Header[] = [
    ['access-control-allow-headers', allowed],
    ['access-control-max-age', String(maxAgeSeconds)],
  ];

  return {
    headers(origin, allow) {
      // Also where no origin is named: the answer to the next page would differ.
      if (origin === undefined || !known.has(origin)) return [vary];
      return [
        ['access-control-allow-origin', origin],
        ...withCredentials,
        ...(allow === undefined
          ? ([['access-control-expose-headers', exposed]] as const)
          : ([['access-control-allow-methods', allow], ...toPreflights] as const)),
        vary,
      ];
    },
    isPreflight: (request) =>
      request.method === 'OPTIONS' &&
      request.header('access-control-request-method') !== undefined &&
      known.has(request.header('origin') ?? ''),
  };
}
