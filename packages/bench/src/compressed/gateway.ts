import { initTRPC } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';
import { From, listFrom, port } from './list.ts';

const { ADAPTER } = process.env;
const { serve } =
  ADAPTER === 'bun'
    ? await import('trpc-gateway/bun')
    : ADAPTER === 'node'
      ? await import('trpc-gateway/node')
      : await import('trpc-gateway/uws');

const t = initTRPC.meta<GatewayMeta>().create();
const gateway = await createGateway({
  router: t.router({
    list: t.procedure
      .meta({ openapi: { method: 'GET', path: '/animals' } })
      .input(From)
      .output(
        z.array(
          z.object({
            id: z.int(),
            name: z.string(),
            status: z.string(),
            categoryId: z.int(),
            createdAt: z.string(),
          }),
        ),
      )
      .query(({ input }) => listFrom(input.from)),
  }),
  createContext: () => ({}),
  document: { title: 'Animals', version: '1.0.0' },
  compression: true,
});
await serve(gateway, { port });
