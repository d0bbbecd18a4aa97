import { GatewayError } from '../procedures/gatewayError.ts';
import type { HttpRequest } from '../http/request.ts';

/** Whether pages of an origin may call. It is synchronous, and decides for each request of a page. */
export type AllowsOrigin = (origin: string, request: HttpRequest) => boolean;

/** Exact origins and patterns, or a function. */
export type Origins = readonly string[] | AllowsOrigin;

/**
 * Compiles the origins of an option. A function of the service allows an origin by `true` alone, not by a promise. What it
 * throws is thrown.
 */
export function originMatcher(origins: Origins): AllowsOrigin {
  if (typeof origins === 'function')
    return (origin, request) => (origins(origin, request) as unknown) === true;
  const exact = new Set(origins);
  const patterns = origins.filter((origin) => origin.includes('*')).map(patternOf);
  if (patterns.length === 0) return (origin) => exact.has(origin);
  return (origin) => exact.has(origin) || patterns.some((pattern) => pattern.test(origin));
}

/** Whether a check of a request's origin passes. What a function of the service throws is for the log: the page may not call. */
export function passes(
  check: (request: HttpRequest) => boolean,
  scope: { readonly request: HttpRequest; error: unknown },
): boolean {
  try {
    return check(scope.request);
  } catch (cause) {
    scope.error ??= cause;
    return false;
  }
}

/** `*` in the first label of the host, with two labels behind it at least: `https://pets-*.vercel.app`. */
const wildcard = /^(https?:\/\/)([a-z0-9-]*)\*([a-z0-9-]*)((?:\.[a-z0-9-]+){2,}(?::\d+)?)$/;

/** @throws {GatewayError} for what is neither an origin nor a pattern */
export function requireOrigins(option: string, origins: Origins): void {
  if (typeof origins === 'function') return;
  for (const origin of origins) {
    if (origin.includes('*')) {
      const example = origin.replace('*', 'a');
      if (wildcard.test(origin) && URL.canParse(example) && new URL(example).origin === example) continue;
      throw new GatewayError(
        `${option} names "${origin}": one * may stand in the first label of a host with two further labels, as https://pets-*.vercel.app. For anything else give a function.`,
      );
    }
    if (URL.canParse(origin) && new URL(origin).origin === origin) continue;
    throw new GatewayError(
      `${option} names "${origin}", which is not an origin: write scheme, host and port alone, as https://pets.example.`,
    );
  }
}

/** `*` is one or more characters of one label. */
function patternOf(pattern: string): RegExp {
  const [, scheme = '', before = '', after = '', rest = ''] = wildcard.exec(pattern) ?? [];
  return new RegExp(`^${scheme}${before}[a-z0-9-]+${after}${rest.replaceAll('.', String.raw`\.`)}$`);
}
