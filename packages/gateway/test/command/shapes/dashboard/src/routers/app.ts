import { lazy } from '@trpc/server';
import { z } from 'zod';
import { t } from '../trpc';

const app = z.object({ id: z.string(), href: z.string().nullable() });

export const appRouter = t.router({
  icons: lazy(() => import('./icons')),
  all: t.procedure
    .meta({
      openapi: { method: 'GET', path: '/apps', protect: true },
      mcp: { enabled: true, description: 'Lists the apps.' },
    })
    .output(z.array(app))
    .query(({ ctx }) => [{ id: ctx.key ?? 'none', href: null }]),
  search: t.procedure
    .meta({ openapi: { method: 'GET', path: '/apps/search' }, mcp: { enabled: true } })
    .input(z.object({ query: z.string(), limit: z.number().min(1).max(100).default(10) }))
    .output(z.array(app))
    .query(({ input }) => [{ id: input.query, href: String(input.limit) }]),
  remove: t.procedure
    .meta({ openapi: { method: 'DELETE', path: '/apps/{id}', enabled: false }, mcp: { enabled: false } })
    .input(z.object({ id: z.string() }))
    .output(z.void())
    .mutation(() => {}),
  selectable: t.procedure.query(() => []),
});
