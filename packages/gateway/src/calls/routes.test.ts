import { expect, it } from 'vitest';
import { GatewayError } from '../checks/gatewayError.ts';
import { readRoutes } from './routes.ts';

const handler = () => ({ status: 200, headers: [] });
const table = (...keys: readonly string[]) =>
  readRoutes(Object.fromEntries(keys.map((key) => [key, handler])));

it.each([
  'page',
  'GET page',
  '/a?b',
  '/a#b',
  'GET /a /b',
  'get /a',
  ' /a',
  'G,T /a',
  'HEAD /a',
  'OPTIONS /a',
  'CONNECT /a',
  'TRACE /a',
])('readRoutes rejects the key %j', (key) => {
  expect(() => table(key)).toThrow(
    new GatewayError(
      `The key "${key}" of routes is invalid; it must be a path without query and spaces, such as "/page", or a method in upper case and a path, such as "POST /page". GET also serves HEAD, and the gateway serves OPTIONS.`,
    ),
  );
});

it('readRoutes rejects two routes with the same method and path', () => {
  expect(() => table('/a', 'GET /a')).toThrow(
    'GET "/a" is served twice: by routes, document.path, mcp or the metadata of a protected resource. Give one of them another path.',
  );
});

it.each([
  [undefined, 'undefined'],
  ['page', '"page"'],
  [{ handler }, 'an object'],
])('readRoutes rejects the route %j', (route, shown) => {
  expect(() => readRoutes({ '/a': route } as never)).toThrow(
    new GatewayError(`routes["/a"] is ${shown}; it must be a function.`),
  );
});
