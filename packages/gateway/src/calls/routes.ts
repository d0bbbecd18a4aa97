import type { HttpRequest } from '../http/request.ts';
import type { Header, HttpResponse } from '../http/response.ts';
import { formatValue } from '../http/formatValue.ts';
import { GatewayError } from '../checks/gatewayError.ts';
import type { ProtectedResource } from './scheme.ts';

/**
 * Handles a request and returns the response. `request.body(maxBytes)` returns the raw body, for example to verify a
 * webhook signature; a larger body is rejected with 413. A thrown `TRPCError` becomes the response; any other error
 * becomes a 500. `requestId` is the `X-Request-Id` of the response.
 */
export type RouteHandler = (
  request: HttpRequest,
  context: { readonly requestId: string },
) => HttpResponse | Promise<HttpResponse>;

/** Routes by path (`'/health'`, for `GET` and `HEAD`), or by method and path (`'POST /webhooks/stripe'`). */
export type Routes = Readonly<Record<`/${string}` | `${Uppercase<string>} /${string}`, RouteHandler>>;

/** Methods that routes cannot use: `HEAD` follows `GET`, the gateway handles `OPTIONS`, the others are for proxies. */
const reservedMethods: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS', 'CONNECT', 'TRACE']);

/** The routes beside the router, by path and method; `HEAD` is that of `GET`. Paths are compared exactly. */
export type RouteTable = Map<string, Map<string, RouteHandler>>;

/** Reads the option `routes`. @throws {GatewayError} for an invalid key, a non-function, a repeated route */
export function readRoutes(routes: Routes): RouteTable {
  const table: RouteTable = new Map();
  for (const [key, handler] of Object.entries(routes)) {
    const [, method = 'GET', path] = /^(?:([A-Z][A-Z-]*) )?(\/[^ ?#]*)$/.exec(key) ?? [];
    if (path === undefined || reservedMethods.has(method)) {
      throw new GatewayError(
        `The key "${key}" of routes is invalid; it must be a path without query and spaces, such as "/page", or a method in upper case and a path, such as "POST /page". GET also serves HEAD, and the gateway serves OPTIONS.`,
      );
    }
    if (typeof handler !== 'function') {
      throw new GatewayError(`routes["${key}"] is ${formatValue(handler)}; it must be a function.`);
    }
    addRoute(table, path, handler, method);
  }
  return table;
}

/** @throws {GatewayError} if another route has the same method and path */
export function addRoute(table: RouteTable, path: string, handler: RouteHandler, method = 'GET'): void {
  const methods = table.get(path) ?? new Map<string, RouteHandler>();
  if (methods.has(method)) {
    throw new GatewayError(
      `${method} "${path}" is served twice: by routes, document.path, mcp or the metadata of a protected resource. Give one of them another path.`,
    );
  }
  table.set(path, methods.set(method, handler));
  if (method === 'GET') methods.set('HEAD', handler);
}

/** Creates the route of the metadata of a protected resource: public, and for pages of any origin, which may be clients. */
export function metadataRoute(resource: ProtectedResource, scopes: readonly string[]): RouteHandler {
  const headers: readonly Header[] = [
    ['content-type', 'application/json'],
    ['access-control-allow-origin', '*'],
  ];
  const body = JSON.stringify(resource.document(scopes));
  return () => ({ status: 200, headers, body });
}
