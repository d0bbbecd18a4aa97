import { expect, it } from 'vitest';
import { z } from 'zod';
import { t, testGateway } from '../../testing/testGateway.ts';

async function start() {
  const calls: unknown[] = [];
  const openapi = { method: 'GET', path: '/touch/{id}', unsafe: true } as const;
  const touch = t.procedure.meta({ openapi }).input(z.object({ id: z.int(), force: z.boolean().optional() }));
  const router = t.router({
    touch: touch.mutation(({ input }) => {
      calls.push(input);
      return calls.length;
    }),
    touchOnce: touch
      .meta({ openapi: { ...openapi, path: '/once/{id}' }, idempotencyKey: 'optional' })
      .mutation(({ input }) => calls.push(input)),
    open: touch
      .meta({ openapi: { ...openapi, path: '/open/{id}' }, protect: false })
      .mutation(({ input }) => calls.push(input)),
    replace: touch.meta({ openapi: { method: 'PUT', path: '/touch/{id}' } }).mutation(() => 0),
    read: t.procedure.meta({ openapi: { method: 'GET', path: '/read' } }).query(() => 0),
  });
  const gateway = await testGateway(router);
  const send = (target: string, method = 'GET', headers: Record<string, string> = {}) =>
    gateway.fetch(`http://pets.example${target}`, { method, headers });
  return { calls, gateway, send };
}

it('HEAD of a GET with unsafe is answered with 405 and does not call the mutation', async () => {
  const { calls, send } = await start();
  const response = await send('/v1/touch/1', 'HEAD');
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, PUT, OPTIONS']);
  expect(calls).toEqual([]);
});

it('Allow of a path has HEAD for a query, and not for a GET with unsafe', async () => {
  const { send } = await start();
  expect((await send('/v1/touch/1', 'OPTIONS')).headers.get('allow')).toBe('GET, PUT, OPTIONS');
  expect((await send('/v1/read', 'OPTIONS')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});

it('an Idempotency-Key is replayed by a GET with unsafe only if the mutation is idempotent', async () => {
  const { calls, gateway, send } = await start();
  const key = { 'idempotency-key': 'k1' };
  for (const target of ['/v1/touch/1', '/v1/touch/1', '/v1/once/2', '/v1/once/2']) {
    expect((await send(target, 'GET', key)).status).toBe(200);
  }
  expect(calls).toEqual([{ id: 1 }, { id: 1 }, { id: 2 }]);
  const { paths } = (await gateway.document()) as {
    readonly paths: Record<
      string,
      { readonly get: { readonly parameters: readonly { readonly name: string }[] } }
    >;
  };
  const parametersOf = (path: string) => paths[path]?.get.parameters.map(({ name }) => name);
  expect(parametersOf('/once/{id}')).toEqual(['id', 'force', 'Idempotency-Key']);
  expect(parametersOf('/touch/{id}')).toEqual(['id', 'force']);
});

it('the mutation of a GET with unsafe is still called by POST over tRPC', async () => {
  const { calls, gateway, send } = await start();
  expect((await send('/trpc/touch?input=%7B%22id%22%3A1%7D')).status).toBe(405);
  const posted = await gateway.fetch('http://pets.example/trpc/touch', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"id":1}',
  });
  expect(posted.status).toBe(200);
  expect(calls).toEqual([{ id: 1 }]);
});
