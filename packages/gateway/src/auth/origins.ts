import { GatewayError } from '../http/gatewayError.ts';
import type { HttpRequest } from '../http/request.ts';

/** Returns whether pages of an origin may call. It must be synchronous. It runs for each request of a page. */
export type AllowsOrigin = (origin: string, request: HttpRequest) => boolean;

/** Allowed origins: a list of exact origins and patterns, or a function. */
export type Origins = readonly string[] | AllowsOrigin;

/**
 * Compiles the origins of an option into a function. A function of the service allows an origin only with `true`, not
 * with a truthy value or a promise; its errors are rethrown.
 */
export function originMatcher(origins: Origins): AllowsOrigin {
  if (typeof origins === 'function')
    return (origin, request) => (origins(origin, request) as unknown) === true;
  const exact = new Set(origins);
  const patterns = origins.filter((origin) => origin.includes('*')).map(patternOf);
  if (patterns.length === 0) return (origin) => exact.has(origin);
  return (origin) => exact.has(origin) || patterns.some((pattern) => pattern.test(origin));
}

/** Runs a check of a request's origin. If it throws, the request is rejected and the error is kept for the log. */
export function passesOriginCheck(
  check: (request: HttpRequest) => boolean,
  context: { readonly request: HttpRequest; error: unknown },
): boolean {
  try {
    return check(context.request);
  } catch (cause) {
    context.error ??= cause;
    return false;
  }
}

/** A pattern: `*` in the first label of the host, followed by at least two labels: `https://pets-*.vercel.app`. */
const wildcard = /^(https?:\/\/)([a-z0-9-]*)\*([a-z0-9-]*)((?:\.[a-z0-9-]+){2,}(?::\d+)?)$/;

/** @throws {GatewayError} for an entry that is neither an origin nor a pattern */
export function requireOrigins(option: string, origins: Origins): void {
  if (typeof origins === 'function') return;
  for (const origin of origins) {
    if (origin.includes('*')) {
      const example = origin.replace('*', 'a');
      if (wildcard.test(origin) && URL.canParse(example) && new URL(example).origin === example) continue;
      throw new GatewayError(
        `${option} contains "${origin}"; one * is allowed, in the first label of a host with two or more further labels, such as https://pets-*.vercel.app. For other patterns, use a function.`,
      );
    }
    if (URL.canParse(origin) && new URL(origin).origin === origin) continue;
    throw new GatewayError(
      `${option} contains "${origin}", which is not an origin. Write only scheme, host and port, such as https://pets.example.`,
    );
  }
}

/** Compiles a pattern. `*` matches one or more characters of one label. */
function patternOf(pattern: string): RegExp {
  const [, scheme = '', before = '', after = '', rest = ''] = wildcard.exec(pattern) ?? [];
  return new RegExp(`^${scheme}${before}[a-z0-9-]+${after}${rest.replaceAll('.', String.raw`\.`)}$`);
}
