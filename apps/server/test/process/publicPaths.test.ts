import { once } from 'node:events';
import { request } from 'node:http';
import { appRouter } from '@petstore/core';
import { expect, test } from 'vitest';
import { sharedServer } from '../testing/newFolder.ts';

const server = sharedServer();

/** Sends a request without a credential and with the literal path: `fetch` would resolve its dots. */
async function send(method: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(server.origin);
  const [response] = await once(request({ hostname, port, method, path, agent: false }).end(), 'response');
  response.resume();
  return response.statusCode;
}

/** Returns the requests whose status is another one. */
async function others(status: number, paths: readonly string[], methods: readonly string[]) {
  const wrong: string[] = [];
  for (const path of paths) {
    for (const method of methods) {
      // One after the other: thousands at once would wait for each other.
      const received = await send(method, path);
      if (received !== status) wrong.push(`${method} ${path}: ${received}`);
    }
  }
  return wrong;
}

/** All paths that are served without a key. */
const publicPaths = ['/docs', '/docs/scalar.js', '/docs/start.js', '/healthz', '/openapi.json', '/readyz'];
const hidden = publicPaths.flatMap((path) => [path, `/..${path}`]);

test('the document, the docs page and health are served without a credential, and / leads to the docs page', async () => {
  expect(await others(200, publicPaths, ['GET', 'HEAD'])).toEqual([]);
  expect((await fetch(server.origin)).url).toBe(`${server.origin}/docs`);
});

test('every operation and procedure answers 401 without a credential, for any method and form of its path', async () => {
  const rest = ['', '/', '/pets', '/pets/', '/pets/1', '/pets?limit=1', '//pets', '/%70ets', '/nothing'];
  const procedures = Object.keys(appRouter._def.procedures).map((path) => `/${path}`);
  const calls = [
    '',
    '/',
    '/nothing',
    '/listPets,healthz?batch=1',
    '/,?batch=1',
    '/%6cistPets',
    ...procedures,
  ];
  const paths = [
    ...[...rest, ...hidden, ...publicPaths.map((path) => `/pets/../..${path}`)].map((path) => `/v1${path}`),
    ...[...calls, ...hidden].map((path) => `/trpc${path}`),
  ];
  expect(await others(401, paths, ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'get'])).toEqual([]);
});
