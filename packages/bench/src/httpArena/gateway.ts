import { initTRPC } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const asText = { produces: { 'text/plain': (sum: number) => String(sum) } };

const router = t.router({
  sum: t.procedure
    .meta({ openapi: { method: 'GET', path: '/baseline11', ...asText } })
    .input(z.object({ a: z.int(), b: z.int() }))
    .output(z.int())
    .query(({ input: { a, b } }) => a + b),
  sumOfBody: t.procedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/baseline11',
        in: { a: 'query', b: 'query' },
        contentTypes: ['text/plain'],
        ...asText,
      },
    })
    .input(z.object({ a: z.int(), b: z.int(), body: z.instanceof(Uint8Array) }))
    .output(z.int())
    .mutation(({ input: { a, b, body } }) => a + b + Number(Buffer.from(body).toString())),
});

const gateway = await createGateway({
  router,
  createContext: () => ({}),
  restBasePath: '/',
  document: { title: 'Profiles of HttpArena', version: '1.0.0' },
});

const adapters = {
  uws: () => import('trpc-gateway/uws'),
  node: () => import('trpc-gateway/node'),
  bun: () => import('trpc-gateway/bun'),
};
const { serve } = await adapters[process.env['SERVER'] as keyof typeof adapters]();
await serve(gateway, { host: '127.0.0.1', port: Number(process.env['PORT']) });
