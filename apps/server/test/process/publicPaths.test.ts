import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { appRouter } from '@petstore/core';
import { sharedServer } from '../testing/newFolder.ts';

/** Sends a request without a credential and with the literal path: `fetch` would resolve its dots. */
async function send(origin: string, method: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(origin);
  const httpRequest = request({ hostname, port, method, path, agent: false }).end();
  const [response] = await once(httpRequest, 'response');
  response.resume();
  return response.statusCode;
}

/** All paths that are served without a key. */
const publicPaths = ['/docs', '/docs/scalar.js', '/docs/start.js', '/healthz', '/openapi.json', '/readyz'];

const procedures = Object.keys(appRouter._def.procedures);

const server = sharedServer();

describe('requests without a credential', () => {
  test.for(publicPaths)('%s is served without a credential', async (path) => {
    expect(await send(server.origin, 'GET', path)).toBe(200);
    expect(await send(server.origin, 'HEAD', path)).toBe(200);
  });

  test('/ redirects to the documentation without a credential', async () => {
    expect(await send(server.origin, 'GET', '/')).toBe(302);
  });

  test('every operation and procedure answers 401 without a credential, for any method and form of its path', async () => {
    const paths = [
      '',
      '/',
      '/pets',
      '/pets/',
      '/pets/1',
      '/pets?limit=1',
      '//pets',
      '/%70ets',
      '/nothing',
      '/docs',
      ...publicPaths,
      ...publicPaths.map((path) => `/..${path}`),
      ...publicPaths.map((path) => `/pets/../..${path}`),
    ].map((path) => `/v1${path}`);
    const calls = [
      '',
      '/',
      '/nothing',
      '/listPets,healthz?batch=1',
      '/,?batch=1',
      '/%6cistPets',
      ...procedures.map((path) => `/${path}`),
      ...publicPaths,
      ...publicPaths.map((path) => `/..${path}`),
    ].map((path) => `/trpc${path}`);
    const served: string[] = [];
    for (const path of [...paths, ...calls]) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'get']) {
        const status = await send(server.origin, method, path);
        if (status !== 401) served.push(`${method} ${path}: ${status}`);
      }
    }
    expect(procedures.length).toBeGreaterThanOrEqual(3);
    expect(served).toEqual([]);
  });

  test('other paths answer 404, also if they resemble a public path', async () => {
    const elsewhere = [
      '/metrics',
      '/admin',
      '/keys',
      '/v2/pets',
      '/V1/pets',
      '/TRPC/listPets',
      '/v1pets',
      '/%76%31/pets',
      ...publicPaths.flatMap((path) => [
        `${path}/`,
        `${path}/x`,
        path.toUpperCase(),
        `/${path}`,
        `${path};a`,
      ]),
    ];
    const statuses = await Promise.all(elsewhere.map((path) => send(server.origin, 'GET', path)));
    expect(elsewhere.filter((_, at) => statuses[at] !== 404)).toEqual([]);
  });

  test('every operation of the document requires a key', async () => {
    const { paths, security } = (await (await fetch(`${server.origin}/openapi.json`)).json()) as {
      readonly paths: Record<string, Record<string, { readonly security?: readonly object[] }>>;
      readonly security?: readonly object[];
    };
    const open = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, operation]) => ((operation.security ?? security)?.length ?? 0) === 0)
        .map(([method]) => `${method} ${path}`),
    );
    expect(Object.keys(paths)).not.toEqual([]);
    expect(open).toEqual([]);
  });
});
