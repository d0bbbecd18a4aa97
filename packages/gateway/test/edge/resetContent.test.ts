import { createGateway, type ResponseControls } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/meta';
import { initTRPC } from '@trpc/server';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { has, serve } from '../servers.ts';

const t = initTRPC
  .context<{ readonly response: ResponseControls }>()
  .meta<GatewayMeta>()
  .create({ isDev: false });
const reset = t.procedure.output(z.string());
const router = t.router({
  always: reset
    .meta({ openapi: { method: 'POST', path: '/always', successStatus: 205 } })
    .mutation(() => 'text'),
  selected: reset
    .meta({ openapi: { method: 'POST', path: '/selected', successStatus: [200, 205] } })
    .mutation(({ ctx }) => {
      ctx.response.status = 205;
      return 'text';
    }),
  declared: t.procedure
    .meta({ openapi: { method: 'POST', path: '/declared', successStatus: 205 } })
    .output(z.void())
    .mutation(() => {}),
});

it('a 205 of a procedure or a route has no body and the length 0 (RFC 9110 §15.3.6), and the document describes none', async () => {
  const gateway = await createGateway({
    router,
    createContext: ({ response }) => ({ response }),
    document: { title: 'Reset', version: '1.0.0' },
    routes: { 'POST /route': () => ({ status: 205, headers: [], body: 'text' }) },
  });
  const server = await serve(gateway);
  onTestFinished(() => void server.close());
  for (const path of ['/v1/always', '/v1/selected', '/v1/declared', '/route']) {
    const response = await server.fetch(`${server.origin}${path}`, { method: 'POST' });
    const { status, headers } = response;
    expect([path, status, await response.text(), headers.get('content-type')]).toEqual([path, 205, '', null]);
    // Without a port, the server of the Response sets the length.
    expect(headers.get('content-length')).toBe(has('a port') ? '0' : null);
  }
  const { paths } = (await gateway.document()) as { readonly paths: Record<string, object> };
  for (const path of ['/always', '/selected', '/declared']) {
    expect(paths[path]).toMatchObject({ post: { responses: { 205: expect.any(Object) } } });
    expect(paths[path]).not.toHaveProperty('post.responses.205.content');
  }
});
