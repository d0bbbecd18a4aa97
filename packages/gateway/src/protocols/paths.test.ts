import { describe, expect, it } from 'vitest';
import { readRoutes } from '../calls/routes.ts';
import { isBelow, createLinkBase, readPaths, requireFreePaths } from './paths.ts';
import { createProtocolOf } from './requestHandler.ts';

const handler = () => ({ status: 200, headers: [] });

it.each([
  ['/v1', '/v1', true],
  ['/v1/', '/v1', true],
  ['/v1/pets', '/v1', true],
  ['/v10', '/v1', false],
  ['/v', '/v1', false],
  ['/V1', '/v1', false],
  ['/x/v1', '/v1', false],
  ['/pets', '', true],
])('isBelow(%j, %j) is %s', (path, base, expected) => {
  expect(isBelow(path, base)).toBe(expected);
});

describe('createProtocolOf', () => {
  it.each([
    ['/v1/pets', 'rest'],
    ['/trpc/pets', 'trpc'],
    ['/trpcs', 'other'],
    ['/', 'other'],
    ['/v1/page', 'other'],
    ['/v1/page/', 'rest'],
    ['/trpc/hook', 'other'],
    ['/page', 'other'],
  ])('the path %s belongs to the protocol %s', (path, protocol) => {
    const routes = readRoutes({ '/page': handler, '/v1/page': handler, 'POST /trpc/hook': handler });
    expect(createProtocolOf(readPaths({}), routes)(path)).toBe(protocol);
  });

  it.each([
    [{ restBasePath: '/' }, '/anything', 'rest'],
    [{ restBasePath: '/' }, '/trpc/a', 'trpc'],
    [{ restBasePath: '/trpc/rest' }, '/trpc/rest/a', 'trpc'],
    [{ trpcBasePath: '/' }, '/v1/a', 'trpc'],
    [{ restBasePath: '/api/' }, '/api/a', 'rest'],
    [{}, '/V1/a', 'other'],
    [{ ignorePathCase: true }, '/V1/a', 'rest'],
    [{ ignorePathCase: true, restBasePath: '/V1' }, '/v1', 'rest'],
    [{ ignorePathCase: true }, '/V10/a', 'other'],
    [{ ignorePathCase: true }, '/TRPC/a', 'other'],
  ])('with the options %j, the path %s belongs to the protocol %s', (options, path, protocol) => {
    expect(createProtocolOf(readPaths(options), new Map())(path)).toBe(protocol);
  });
});

it.each<[publicUrl: string | undefined, origin: string]>([
  [undefined, ''],
  ['https://pets.example', 'https://pets.example'],
  ['https://pets.example/store//', 'https://pets.example/store'],
  ['/api/', '/api'],
  ['/', ''],
])('with publicUrl %j, links start with %j', (publicUrl, origin) => {
  expect(createLinkBase(publicUrl, '/v1')).toEqual({ origin, rest: `${origin}/v1` });
});

it('requireFreePaths names every procedure that is served at the path of a route', () => {
  const routes = readRoutes({ '/trpc/a': handler, 'POST /trpc/c': handler, '/page': handler });
  const procedures = ['a', 'b', 'c'].map((path) => ({ path }));
  expect(() => requireFreePaths(routes, readPaths({}), procedures)).toThrow(
    'The paths of the procedures "a", "c" below "/trpc" are also paths of routes. Give the routes other paths.',
  );
  expect(() => requireFreePaths(routes, readPaths({}), [{ path: 'b' }])).not.toThrow();
});
