import { tokenPattern } from '../http/headers.ts';
import type { HttpRequest } from '../http/request.ts';
import type { Header, HttpResponse } from '../http/response.ts';
import { flag, isFunction, type OptionRules, required, requireOptions } from '../http/optionRules.ts';
import { GatewayError } from '../http/gatewayError.ts';
import type { ProtectedResource } from './scheme.ts';

/** The second argument of a route handler. */
interface RouteContext<Identity> {
  /** The identity that the scheme's `verify` returned; `undefined` without `protect`. */
  readonly identity: Identity | undefined;
  /** The `X-Request-Id` of the response. */
  readonly requestId: string;
}

/**
 * Handles a request and returns the response. `request.body(maxBytes)` returns the raw body, for example to verify a
 * webhook signature; a larger body is rejected with 413. A thrown `TRPCError` becomes the response; any other error
 * becomes a 500.
 */
export type RouteHandler<Identity> = (
  request: HttpRequest,
  context: RouteContext<Identity>,
) => HttpResponse | Promise<HttpResponse>;

/** A route with options. */
export interface Route<Identity> {
  readonly handler: RouteHandler<Identity>;
  /** Whether the policies of calls apply: authentication, `maxInFlight` and the rate limit. Default: false. */
  readonly protect?: boolean;
}

const routeRules: OptionRules<Route<unknown>> = {
  handler: required(isFunction, 'a function'),
  protect: flag,
};

/** Routes by path (`'/health'`, for `GET` and `HEAD`), or by method and path (`'POST /webhooks/stripe'`). */
export type Routes<Identity> = Readonly<
  Record<`/${string}` | `${Uppercase<string>} /${string}`, RouteHandler<Identity> | Route<Identity>>
>;

/**
 * Methods that routes cannot use: `HEAD` follows `GET`, the gateway handles `OPTIONS`, and the others are for proxies.
 */
const reservedMethods: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS', 'CONNECT', 'TRACE']);

/** The routes beside the router, by path and method. Paths are compared exactly. */
export type RouteTable<Identity> = Map<string, Map<string, Route<Identity>>>;

/**
 * Reads the option `routes`.
 * @throws {GatewayError} for an invalid key, a value that is not a route, two routes with the same method and path, and
 *   a route with `protect` without authentication
 */
export function readRoutes<Identity>(
  routes: Routes<Identity>,
  hasAuthentication: boolean,
): RouteTable<Identity> {
  const table: RouteTable<Identity> = new Map();
  for (const [key, value] of Object.entries(routes)) {
    const [, method = 'GET', path] = /^(?:([^ ]*) )?(\/[^ ?#]*)$/.exec(key) ?? [];
    if (
      path === undefined ||
      !tokenPattern.test(method) ||
      method !== method.toUpperCase() ||
      reservedMethods.has(method)
    ) {
      throw new GatewayError(
        `The key "${key}" of routes is invalid; it must be a path without query and spaces, such as "/page", or a method in upper case and a path, such as "POST /page". GET also serves HEAD, and the gateway serves OPTIONS.`,
      );
    }
    const route = typeof value === 'function' ? { handler: value } : value;
    requireOptions(`the route "${key}"`, route, routeRules, `routes["${key}"].`);
    if (route.protect && !hasAuthentication) {
      throw new GatewayError(
        `The route ${method} ${path} has protect: true, but createGateway has no authentication. Add authentication, or remove protect.`,
      );
    }
    addRoute(table, path, route, method);
  }
  return table;
}

/** @throws {GatewayError} if another route has the same method and path */
export function addRoute<Identity>(
  table: RouteTable<Identity>,
  path: string,
  route: Route<Identity>,
  method = 'GET',
): void {
  const methods = table.get(path) ?? new Map<string, Route<Identity>>();
  if (methods.has(method)) {
    throw new GatewayError(
      `${method} "${path}" is served twice: by routes, documentPath or the metadata of a protected resource. Give one of them another path.`,
    );
  }
  table.set(path, methods.set(method, route));
}

/**
 * Creates the route for the metadata of a protected resource. It is public and readable by pages of any origin, because
 * clients in browsers need it.
 */
export function metadataRoute(resource: ProtectedResource, scopes: readonly string[]): Route<unknown> {
  const headers: readonly Header[] = [
    ['content-type', 'application/json'],
    ['access-control-allow-origin', '*'],
  ];
  const body = JSON.stringify(resource.document(scopes));
  return { handler: () => ({ status: 200, headers, body }) };
}
