import { tokenPattern } from '../http/headers.ts';
import type { HttpRequest } from '../http/request.ts';
import type { Header, HttpResponse } from '../http/response.ts';
import { flag, isFunction, type OptionRules, optionProblems, required } from '../http/optionRules.ts';
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
export class RouteTable<Identity> {
  readonly #paths = new Map<string, Map<string, Route<Identity>>>();

  /**
   * @throws {GatewayError} for an invalid key, a value that is not a route, or two routes with the same method and path
   */
  constructor(routes: Routes<Identity>) {
    for (const [key, route] of Object.entries(routes)) {
      const { method, path } = parseKey(key);
      const definition = typeof route === 'function' ? { handler: route } : route;
      const problems = optionProblems(`the route "${key}"`, definition, routeRules, `routes["${key}"].`);
      if (problems.length > 0) throw new GatewayError(problems.join('\n'));
      if (this.#paths.get(path)?.has(method)) {
        throw new GatewayError(
          `routes contains ${method} ${path} twice: "${path}" already serves GET and HEAD. Remove one of them.`,
        );
      }
      this.add(path, definition, method);
    }
  }

  get paths(): readonly string[] {
    return [...this.#paths.keys()];
  }

  get methods(): readonly string[] {
    const all = new Set<string>();
    for (const methods of this.#paths.values()) for (const method of methods.keys()) all.add(method);
    return [...all];
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** Returns the routes of a path, by method. */
  at(path: string): ReadonlyMap<string, Route<Identity>> | undefined {
    return this.#paths.get(path);
  }

  add(path: string, route: Route<Identity>, method = 'GET'): void {
    const methods = this.#paths.get(path) ?? new Map<string, Route<Identity>>();
    methods.set(method, route);
    this.#paths.set(path, methods);
  }

  /** @throws {GatewayError} if a route has `protect`; called for a gateway without authentication */
  requireAuthentication(): void {
    for (const [path, methods] of this.#paths) {
      for (const [method, { protect }] of methods) {
        if (!protect) continue;
        throw new GatewayError(
          `The route ${method} ${path} has protect: true, but createGateway has no authentication. Add authentication, or remove protect.`,
        );
      }
    }
  }
}

function parseKey(key: string): { readonly method: string; readonly path: string } {
  const [first = '', second, ...others] = key.split(' ');
  const path = second ?? first;
  const method = second === undefined ? 'GET' : first;
  if (!path.startsWith('/')) {
    throw new GatewayError(`A path of routes is "${path}"; it must start with a slash, such as "/${path}".`);
  }
  if (others.length > 0 || /[?#]/.test(path)) {
    throw new GatewayError(
      `The route "${key}" is not a path. Write it without query and spaces, such as "/page".`,
    );
  }
  if (!tokenPattern.test(method) || method !== method.toUpperCase() || reservedMethods.has(method)) {
    throw new GatewayError(
      `The route "${key}" has the method "${method}"; it must be a method in upper case, such as "POST ${path}". GET also serves HEAD, and the gateway serves OPTIONS.`,
    );
  }
  return { method, path };
}

/**
 * Adds a route for the metadata of a protected resource. It is public and readable by pages of any origin, because
 * clients in browsers need it.
 * @throws {GatewayError} if its path is already taken
 */
export function addMetadata<Identity>(
  routes: RouteTable<Identity>,
  resource: ProtectedResource,
  scopes: readonly string[],
): void {
  const { path } = resource;
  if (routes.has(path)) {
    throw new GatewayError(
      `The metadata of a protected resource and another response are both served at "${path}". Give each scheme its own resource, and each route another path.`,
    );
  }
  const headers: readonly Header[] = [
    ['content-type', 'application/json'],
    ['access-control-allow-origin', '*'],
  ];
  const body = JSON.stringify(resource.document(scopes));
  routes.add(path, { handler: () => ({ status: 200, headers, body }) });
}
