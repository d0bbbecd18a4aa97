import { TRPCError } from '@trpc/server';
import { GatewayError } from '../checks/gatewayError.ts';
import { requireSync } from '../http/hooks.ts';
import type { RequestPolicy } from '../calls/requestContext.ts';
import type { HttpRequest } from '../http/request.ts';

/** Returns whether pages of an origin may call. It must be synchronous. It runs for each request of a page. */
export type AllowsOrigin = (origin: string, request: HttpRequest) => boolean;

/** Allowed origins: a list of exact origins, or a function. */
export type Origins = readonly string[] | AllowsOrigin;

/** A function of the service allows with `true` alone. Its errors are rethrown; a promise is an error. */
export function originMatcher(origins: Origins): AllowsOrigin {
  if (typeof origins === 'function')
    return (origin, request) => (requireSync(origins(origin, request), 'cors.origins') as unknown) === true;
  const exact = new Set(origins);
  return (origin) => exact.has(origin);
}

/** Parses an `Origin` as browsers send it: a scheme and a host, without a user, a path or a default port. */
function pageOf(origin: string): URL | undefined {
  const page = URL.parse(origin);
  return page !== null && `${page.protocol}//${page.host}` === origin ? page : undefined;
}

/** Whether a request may come from the page that sent it. */
export type OriginCheck = (request: HttpRequest) => boolean;

/** Runs a check of a request's origin. If it throws, the request is rejected and the error is kept for the log. */
export function passesOriginCheck(
  check: OriginCheck,
  { outcome, request }: { readonly request: HttpRequest; readonly outcome: { error: unknown } },
): boolean {
  try {
    return check(request);
  } catch (cause) {
    outcome.error ??= cause;
    return false;
  }
}

/** @throws {GatewayError} for an entry that is not an origin */
export function requireOrigins(option: string, origins: Origins): void {
  if (typeof origins === 'function') return;
  for (const origin of origins) {
    // `https://*` is a valid URL, and no browser sends it.
    if (!origin.includes('*') && URL.canParse(origin) && new URL(origin).origin === origin) continue;
    throw new GatewayError(
      `${option} contains "${origin}", which is not an origin. Write only scheme, host and port, such as https://pets.example. For patterns, use a function.`,
    );
  }
}

/**
 * Whether a WebSocket may be opened: by programs that are no browser, pages of allowed origins, and the server's own.
 * Always checked: browsers open WebSockets to other sites with cookies and no preflight (RFC 6455 §10.2).
 * @param publicOrigin the server's own origin, for a proxy that changes `Host`
 * @param isOwnName whether the server may have a host name
 */
export function createSocketOrigins(
  origins: Origins,
  publicOrigin: string | undefined,
  isOwnName: (hostname: string) => boolean = () => true,
): OriginCheck {
  const allows = originMatcher(origins);
  return (request) => {
    const origin = request.header('origin');
    if (origin === undefined || origin === publicOrigin || allows(origin, request)) return true;
    // Compare only the host: the scheme that the client used with a proxy is unknown here.
    const page = pageOf(origin);
    return (
      page !== undefined && isOwnName(page.hostname) && page.host === request.header('host')?.toLowerCase()
    );
  };
}

/** Whether a host name, as `URL` writes it, is of the machine itself: `localhost`, 127.0.0.0/8 or `[::1]`. */
export const isLoopbackName = (hostname: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

/**
 * The policy of tools, which may run on the machine of their user: admits pages of the allowed origins, and the
 * server's own by a loopback name. Another name may be an attacker's, resolved to this machine (DNS rebinding), with
 * equal `Origin` and `Host`. A program that is no browser sends no `Origin`.
 */
export function toolOriginPolicy(origins: Origins, publicOrigin: string | undefined): RequestPolicy {
  const isAllowed = createSocketOrigins(origins, publicOrigin, isLoopbackName);
  const message = 'Pages of this origin are not allowed to call tools. Add the origin to cors.origins.';
  return {
    admit(context) {
      return passesOriginCheck(isAllowed, context)
        ? undefined
        : new TRPCError({ code: 'FORBIDDEN', message });
    },
  };
}

/**
 * Whether a request that can change state, with a credential that browsers add, comes from the server's own pages,
 * from pages of `origins`, from a typed URL or from a program that is no browser. Read from `Sec-Fetch-Site` (W3C
 * Fetch Metadata), which pages cannot set, or else `Origin`; browsers send one of them. A sibling subdomain
 * (`same-site`) may have another owner.
 * @param publicOrigin the server's own origin, for a proxy that changes `Host`
 */
export function createCredentialOrigins(origins: Origins, publicOrigin: string | undefined): OriginCheck {
  const allowsOrigin = originMatcher(origins);
  const hasOwnOrigin = createSocketOrigins(origins, publicOrigin);
  return (request) => {
    const site = request.header('sec-fetch-site');
    if (site === undefined) return hasOwnOrigin(request);
    if (site === 'same-origin' || site === 'none') return true;
    const origin = request.header('origin');
    return origin !== undefined && allowsOrigin(origin, request);
  };
}

/** The safe methods (RFC 9110 §9.2.1). `OPTIONS` is handled before any credential is read. */
export const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD']);
