import { initTRPC } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { z } from 'zod';
import { zfd } from 'zod-form-data';

const t = initTRPC.meta<OpenApiMeta>().create();

const fields = z.object({ title: z.string(), recipients: z.array(z.string().email()) });

const envelope = t.router({
  create: t.procedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/envelope/create',
        contentTypes: ['multipart/form-data'],
        tags: ['Envelope'],
      },
    })
    .input(zfd.formData({ title: zfd.text(z.string()), files: zfd.repeatableOfType(zfd.file()) }))
    .output(z.object({ title: z.string(), sizes: z.array(z.number()) }))
    .mutation(({ input }) => ({ title: input.title, sizes: input.files.map(({ size }) => size) })),
  distribute: t.procedure
    .meta({ openapi: { method: 'POST', path: '/envelope/distribute' } })
    .input(fields)
    .output(fields)
    .mutation(({ input }) => input),
  find: t.procedure
    .meta({ openapi: { method: 'GET', path: '/envelope' } })
    .input(z.object({ page: z.coerce.number().optional(), status: z.enum(['DRAFT', 'DONE']).optional() }))
    .output(z.object({ page: z.number(), data: z.array(fields) }))
    .query(({ input }) => ({ page: input.page ?? 1, data: [] })),
  audit: t.procedure
    .meta({ openapi: { method: 'GET', path: '/envelope/audit' } })
    .input(z.object({ range: z.tuple([z.string(), z.number()]) }))
    .output(z.string())
    .query(() => 'audit'),
});

export const appRouter = t.router({ envelope });
