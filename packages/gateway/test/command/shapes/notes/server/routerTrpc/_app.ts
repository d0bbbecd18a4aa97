import { initTRPC } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { z } from 'zod';

const t = initTRPC.meta<OpenApiMeta>().create();

const note = z.object({ id: z.number(), content: z.string(), tags: z.array(z.string()) });

export const noteRouter = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'POST', path: '/note/list' } })
    .input(z.object({ size: z.number().default(30), tagId: z.union([z.number(), z.null()]).default(null) }))
    .output(z.array(note))
    .mutation(({ input }) => [{ id: input.size, content: 'Buy shelves.', tags: [] }]),
  detail: t.procedure
    .meta({ openapi: { method: 'GET', path: '/note/{id}.json' } })
    .input(z.object({ id: z.number() }))
    .output(note)
    .query(({ input }) => ({ id: input.id, content: 'Buy shelves.', tags: ['home'] })),
  clean: t.procedure
    .meta({ openapi: { method: 'GET', path: '/note/clean' } })
    .input(z.void())
    .output(z.boolean())
    .mutation(() => true),
});

const tagRouter = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/tags/list', summary: 'All tags', protect: true } })
    .input(z.void())
    .output(z.array(z.string()))
    .query(() => ['home']),
});

export const appRouter = t.router({ notes: noteRouter, tags: tagRouter });
