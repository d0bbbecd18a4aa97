import { TRPCError } from '@trpc/server';
import { token } from '../http/headers.ts';
import { isObject } from '../http/isObject.ts';
import { BodyTooLargeError, type HttpRequest } from '../http/request.ts';
import type { HttpResponse } from '../http/response.ts';
import { shown } from '../http/unknownNames.ts';
import { GatewayError } from '../procedures/gatewayError.ts';
import { LimitError } from '../procedures/limitError.ts';

/** What the handler of a route is told besides the request. */
export interface RouteContext<Identity> {
  /** What the scheme's `verify` returned; `undefined` without `protect`. */
  readonly identity: Identity | undefined;
  /** The `X-Request-Id` of the response. */
  readonly requestId: string;
}

/**
 * Answers a request. `request.body(maxBytes)` is the body as it was sent, such as a signature covers: a larger one is 413. A
 * `TRPCError` that it throws is the response, and anything else is 500.
 */
export type RouteHandler<Identity> = (
  request: HttpRequest,
  context: RouteContext<Identity>,
) => HttpResponse | Promise<HttpResponse>;

export interface Route<Identity> {
  readonly handler: RouteHandler<Identity>;
  /** Whether it passes the policies as a call does: a credential, `maxInFlight` and the rate limit. Default: false. */
  readonly protect?: boolean;
}

/** Routes by path, for `GET` and `HEAD`, or by method and path: `'POST /webhooks/stripe'`. */
export type Routes<Identity> = Readonly<
  Record<`/${string}` | `${Uppercase<string>} /${string}`, RouteHandler<Identity> | Route<Identity>>
>;

/** `HEAD` follows `GET`, and `OPTIONS` is answered by the gateway; the others are for proxies. */
const reserved: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS', 'CONNECT', 'TRACE']);

/** What is served beside the router, by path and method. Paths are compared as they are. */
export class RouteTable<Identity> {
  readonly #paths = new Map<string, Map<string, Route<Identity>>>();

  /** @throws {GatewayError} for an invalid key, and for two routes of one method and path */
  constructor(routes: Routes<Identity>) {
    for (const [key, route] of Object.entries(routes)) {
      const { method, path } = parseKey(key);
      const added = typeof route === 'function' ? { handler: route } : route;
      if (typeof (added as Partial<Route<Identity>> | undefined)?.handler !== 'function') {
        throw new GatewayError(`The route "${key}" has no handler: give it a function, or { handler }.`);
      }
      if (this.#paths.get(path)?.has(method)) {
        throw new GatewayError(`routes names ${method} ${path} twice: "${path}" is for GET and HEAD.`);
      }
      this.add(path, added, method);
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

  /** The routes of a path by method. */
  at(path: string): ReadonlyMap<string, Route<Identity>> | undefined {
    return this.#paths.get(path);
  }

  add(path: string, route: Route<Identity>, method = 'GET'): void {
    const methods = this.#paths.get(path) ?? new Map<string, Route<Identity>>();
    methods.set(method, route);
    this.#paths.set(path, methods);
  }

  /** @throws {GatewayError} where a route needs a credential and the gateway knows none */
  requireAuthentication(): void {
    for (const [path, methods] of this.#paths) {
      for (const [method, { protect }] of methods) {
        if (!protect) continue;
        throw new GatewayError(
          `The route ${method} ${path} has protect: true, but createGateway has no authentication: add it, or remove protect.`,
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
    throw new GatewayError(`A path of routes is "${path}": it must start with a slash, such as "/${path}".`);
  }
  if (others.length > 0 || /[?#]/.test(path)) {
    throw new GatewayError(
      `The route "${key}" is not a path: write it without query and spaces, such as "/page".`,
    );
  }
  if (!token.test(method) || method !== method.toUpperCase() || reserved.has(method)) {
    throw new GatewayError(
      `The route "${key}" has the method "${method}": write a method in upper case, such as "POST ${path}". GET is for HEAD too, and OPTIONS is answered by the gateway.`,
    );
  }
  return { method, path };
}

/** The value of `Allow`. */
export const allowOf = (methods: ReadonlyMap<string, unknown>): string =>
  [
    ...[...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
    'OPTIONS',
  ].join(', ');

/** The error that answers what a handler threw; `undefined` for an unexpected one. */
export function routeError(cause: unknown, request: HttpRequest): TRPCError | undefined {
  if (cause instanceof BodyTooLargeError) {
    return new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message: cause.message });
  }
  if (request.isAborted) {
    return new TRPCError({ code: 'CLIENT_CLOSED_REQUEST', message: 'The client went away.', cause });
  }
  return cause instanceof TRPCError ? cause : undefined;
}

/** @throws {TypeError} where the handler of a route returned what is not a response */
export function requireResponse(response: unknown, { method, path }: HttpRequest): HttpResponse {
  if (isObject(response) && typeof response['status'] === 'number' && isIterable(response['headers'])) {
    return response as unknown as HttpResponse;
  }
  throw new TypeError(
    `The route ${method} ${path} returned ${shown(response)}; it must return a response, such as { status: 200, headers: [['content-type', 'text/plain']], body: 'ok' }.`,
  );
}

const isIterable = (value: unknown) =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;
