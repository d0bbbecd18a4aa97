import { initTRPC } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';
import { serveGateway } from '../serveGateway.ts';
import { pageOf } from './items.ts';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const asText = { produces: { 'text/plain': (sum: number) => String(sum) } };

const Page = z.object({
  items: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      category: z.string(),
      price: z.int(),
      quantity: z.int(),
      active: z.boolean(),
      tags: z.array(z.string()),
      rating: z.object({ score: z.int(), count: z.int() }),
      total: z.int(),
    }),
  ),
  count: z.int(),
});

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
  page: t.procedure
    .meta({ openapi: { method: 'GET', path: '/json/{count}' } })
    .input(z.object({ count: z.int().min(0).max(50), m: z.int() }))
    .output(Page)
    .query(({ input: { count, m } }) => pageOf(count, m)),
});

await serveGateway(
  await createGateway({
    router,
    createContext: () => ({}),
    restBasePath: '/',
    document: { title: 'Profiles of HttpArena', version: '1.0.0' },
  }),
);
