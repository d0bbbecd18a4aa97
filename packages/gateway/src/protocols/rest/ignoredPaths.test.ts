import { type AnyTRPCRouter } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Telemetry } from '../../calls/telemetry.ts';
import type { GatewayOptions } from '../../assembly/options.ts';
import { echo, t, testGateway } from '../../testing/testGateway.ts';

const router = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets', pagination: { cursor: 'after' } } })
    .input(z.object({ after: z.string().optional() }))
    .query(({ ctx }) => {
      ctx.response.nextCursor = 'c2';
      return {};
    }),
  find: echo({ method: 'GET', path: '/Pets/{name}' }, z.object({ name: z.string() })),
  photo: echo({ method: 'GET', path: '/pets/Photo-{name}.jpg' }, z.object({ name: z.string() })),
  file: echo({ method: 'GET', path: '/files/{+path}' }, z.object({ path: z.string() })),
});

type Options = Partial<GatewayOptions<AnyTRPCRouter, unknown>>;

async function start(options: Options, served: AnyTRPCRouter = router) {
  const { fetch } = await testGateway(served, options);
  return (target: string, method = 'GET') => fetch(`http://pets.example${target}`, { method });
}

const lenient: Options = { compatibility: 'trpc-to-openapi' };

it.each(['/v1/pets/', '/v1/Pets', '/V1/pets', '/%76%31/pets', '/TRPC/list'])(
  'GET %s is 404 by default',
  async (target) => {
    const get = await start({});
    expect((await get(target)).status).toBe(404);
  },
);

it.each<[target: string, output: unknown]>([
  ['/V1/PETS/', {}],
  ['/v1/PETS/Rex/', { name: 'Rex' }],
  ['/v1/pets/photo-Rex.JPG', { name: 'Rex' }],
  ['/v1/Files/A/b/', { path: 'A/b/' }],
])('GET %s with compatibility calls the procedure with %j', async (target, output) => {
  const get = await start(lenient);
  const response = await get(target);
  expect([response.status, await response.json()]).toEqual([200, output]);
});

it('with compatibility, OPTIONS and other methods of a path with a slash have its Allow', async () => {
  const get = await start(lenient);
  for (const [method, status] of [
    ['OPTIONS', 204],
    ['DELETE', 405],
  ] as const) {
    const response = await get('/v1/pets/', method);
    expect([response.status, response.headers.get('allow')]).toEqual([status, 'GET, HEAD, OPTIONS']);
  }
});

it('the next page of a path in another case is at that path, which is served too', async () => {
  const get = await start(lenient);
  const link = (await get('/V1/PETS/?after=c1')).headers.get('link');
  expect(link).toBe('</v1/PETS/?after=c2>; rel="next"');
  expect((await get('/v1/PETS/?after=c2')).status).toBe(200);
});

it('telemetry receives the written route of a path in another case', async () => {
  const routes: (string | undefined)[] = [];
  const span = { trace: undefined, run: <Result>(run: () => Result) => run(), end: () => {} };
  const telemetry: Telemetry = {
    begin({ route }) {
      routes.push(route);
      return { ...span, call: () => span };
    },
  };
  const get = await start({ ...lenient, telemetry });
  await get('/V1/PETS/Rex/');
  expect(routes).toEqual(['/v1/Pets/{name}']);
});

it('only letters of ASCII match in another case with compatibility', async () => {
  const keys = t.router({
    keys: t.procedure.meta({ openapi: { method: 'GET', path: '/keys' } }).query(() => 'keys'),
  });
  const get = await start({ ...lenient, restBasePath: '/kept' }, keys);
  expect((await get('/KEPT/KEYS')).status).toBe(200);
  // The Kelvin sign, whose lower case is the letter k.
  expect((await get('/kept/%E2%84%AAeys')).status).toBe(404);
});

it.each<[at: string, path: `/${string}`, options: Options]>([
  ['a route', '/Hook', { routes: { 'POST /v1/hook': () => ({ status: 204, headers: [] }) } }],
  ['tRPC', '/TRPC/hook', { trpcBasePath: '/v1/trpc' }],
])(
  'an operation at the path of %s in another case is rejected with compatibility',
  async (_at, path, options) => {
    const served = t.router({
      hook: t.procedure.meta({ openapi: { method: 'POST', path } }).mutation(() => 'hook'),
    });
    await expect(start({ ...options, ...lenient }, served)).rejects.toThrow(`/v1${path} is the path of`);
    await expect(start(options, served)).resolves.toBeDefined();
  },
);
