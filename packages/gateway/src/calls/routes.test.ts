import { expect, it } from 'vitest';
import { GatewayError } from '../http/gatewayError.ts';
import { metadataRoute, readRoutes } from './routes.ts';

const handler = () => ({ status: 200, headers: [] });
const table = (...keys: readonly string[]) =>
  readRoutes(Object.fromEntries(keys.map((key) => [key, handler])));

it('readRoutes returns the routes by their exact path and their method, in order', () => {
  const routes = table('/a', 'POST /a', 'QUERY /b');
  expect([...routes.keys()]).toEqual(['/a', '/b']);
  expect([...(routes.get('/a')?.keys() ?? [])]).toEqual(['GET', 'HEAD', 'POST']);
});

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
    'GET "/a" is served twice: by routes, documentPath, mcp or the metadata of a protected resource. Give one of them another path.',
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

it('metadataRoute serves the metadata of a protected resource to pages of any origin', async () => {
  const resource = { path: '/free', document: (scopes: readonly string[]) => ({ scopes }) } as const;
  const served = await metadataRoute(resource, ['read'])({} as never, {} as never);
  expect(served).toEqual({
    status: 200,
    headers: [
      ['content-type', 'application/json'],
      ['access-control-allow-origin', '*'],
    ],
    body: '{"scopes":["read"]}',
  });
});
