import { lazy } from '@trpc/server';
import { z } from 'zod';
import { t } from './trpc';

export const appRouter = t.router({
  app: lazy(() => import('./routers/app')),
  info: t.procedure
    .meta({ openapi: { method: 'GET', path: '/info', tags: ['info'] } })
    .input(z.undefined())
    .output(z.object({ version: z.string(), path: z.string() }))
    .query(({ ctx }) => ({ version: '1.9.0', path: ctx.path })),
  who: t.procedure
    .meta({ openapi: { method: 'GET', path: '/who' } })
    .input(z.object({ page: z.string().optional() }))
    .output(z.unknown())
    .query(({ ctx }) => ctx),
});
