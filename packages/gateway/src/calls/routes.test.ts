import { expect, it } from 'vitest';
import { GatewayError } from '../http/gatewayError.ts';
import { addMetadata, RouteTable, type Routes } from './routes.ts';

const handler = () => ({ status: 200, headers: [] });
const table = (...keys: readonly string[]) =>
  new RouteTable(Object.fromEntries(keys.map((key) => [key, handler])));

it('RouteTable finds routes by their exact path, and lists paths and methods in order', () => {
  const routes = table('/a', 'POST /a', 'QUERY /b');
  expect(routes.paths).toEqual(['/a', '/b']);
  expect(routes.methods).toEqual(['GET', 'POST', 'QUERY']);
  expect([...(routes.at('/a')?.keys() ?? [])]).toEqual(['GET', 'POST']);
  expect([routes.has('/b'), routes.has('/b/'), routes.has('/B')]).toEqual([true, false, false]);
  expect(routes.at('/c')).toBeUndefined();
});

const method = (key: string, name: string, path: string) =>
  `The route "${key}" has the method "${name}"; it must be a method in upper case, such as "POST ${path}". GET also serves HEAD, and the gateway serves OPTIONS.`;
const notPath = (key: string) =>
  `The route "${key}" is not a path. Write it without query and spaces, such as "/page".`;

it.each<[keys: readonly string[], sentence: string]>([
  [['page'], 'A path of routes is "page"; it must start with a slash, such as "/page".'],
  [['GET page'], 'A path of routes is "page"; it must start with a slash, such as "/page".'],
  [['/a?b'], notPath('/a?b')],
  [['/a#b'], notPath('/a#b')],
  [['GET /a /b'], notPath('GET /a /b')],
  [['get /a'], method('get /a', 'get', '/a')],
  [[' /a'], method(' /a', '', '/a')],
  [['G,T /a'], method('G,T /a', 'G,T', '/a')],
  [['HEAD /a'], method('HEAD /a', 'HEAD', '/a')],
  [['OPTIONS /a'], method('OPTIONS /a', 'OPTIONS', '/a')],
  [['CONNECT /a'], method('CONNECT /a', 'CONNECT', '/a')],
  [['TRACE /a'], method('TRACE /a', 'TRACE', '/a')],
  [['/a', 'GET /a'], 'routes contains GET /a twice: "/a" already serves GET and HEAD. Remove one of them.'],
])('RouteTable rejects the keys %j', (keys, sentence) => {
  expect(() => table(...keys)).toThrow(new GatewayError(sentence));
});

it.each([
  [undefined, 'the route "/a" takes an object of options, not undefined.'],
  [null, 'the route "/a" takes an object of options, not null.'],
  ['page', 'the route "/a" takes an object of options, not "page".'],
  [{}, 'routes["/a"].handler is undefined; it must be a function.'],
  [{ handler: 'page' }, 'routes["/a"].handler is "page"; it must be a function.'],
])('RouteTable rejects the route %j', (route, sentence) => {
  expect(() => new RouteTable({ '/a': route } as never)).toThrow(new GatewayError(sentence));
});

it('RouteTable.requireAuthentication rejects a route with protect: true', () => {
  const routes: Routes<unknown> = { '/a': { handler }, 'POST /b': { handler, protect: true } };
  expect(() => table('/a').requireAuthentication()).not.toThrow();
  expect(() => new RouteTable(routes).requireAuthentication()).toThrow(
    'The route POST /b has protect: true, but createGateway has no authentication. Add authentication, or remove protect.',
  );
});

it('addMetadata serves the metadata of a protected resource to pages of any origin, and rejects a taken path', async () => {
  const routes = table('/taken');
  const resource = (path: `/${string}`) => ({ path, document: (scopes: readonly string[]) => ({ scopes }) });
  expect(() => addMetadata(routes, resource('/taken'), [])).toThrow(
    'The metadata of a protected resource and another response are both served at "/taken"',
  );
  addMetadata(routes, resource('/free'), ['read']);
  const served = await routes
    .at('/free')
    ?.get('GET')
    ?.handler({} as never, {} as never);
  expect(served).toEqual({
    status: 200,
    headers: [
      ['content-type', 'application/json'],
      ['access-control-allow-origin', '*'],
    ],
    body: '{"scopes":["read"]}',
  });
});
