import { initTRPC, TRPCError } from '@trpc/server';
import type { CreateExpressContextOptions } from '@trpc/server/adapters/express';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { z } from 'zod';

export async function createContext({ req }: Pick<CreateExpressContextOptions, 'req'>) {
  const token = req.headers['authorization']?.replace('Bearer ', '');
  return { token, language: req.headers['accept-language'] };
}

const t = initTRPC.context<typeof createContext>().meta<OpenApiMeta>().create();
const workspace = t.procedure.input(z.object({ workspaceId: z.string() })).use(({ ctx, next }) => {
  if (!ctx.token) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'No token' });
  return next();
});

const webhook = t.router({
  receive: t.procedure
    .meta({ openapi: { method: 'POST', path: '/feed/{channelId}/webhook' } })
    .input(z.object({ channelId: z.string() }).catchall(z.any()))
    .output(z.any())
    .mutation(({ input }) => input),
});

const monitors = t.router({
  all: workspace
    .meta({ openapi: { method: 'GET', path: '/workspace/{workspaceId}/monitors', protect: true } })
    .output(z.array(z.object({ id: z.string(), active: z.boolean() })))
    .query(({ input }) => [{ id: input.workspaceId, active: true }]),
  summary: workspace
    .meta({ openapi: { method: 'GET', path: '/workspace/{workspaceId}/summary' } })
    .input(z.object({ recent: z.boolean().default(false), days: z.number().int().default(7) }))
    .output(z.object({ recent: z.boolean(), days: z.number() }))
    .query(({ input: { recent, days } }) => ({ recent, days })),
  remove: workspace
    .meta({ openapi: { method: 'DELETE', path: '/workspace/{workspaceId}/monitors' } })
    .output(z.void())
    .mutation(() => undefined),
  internal: workspace
    .meta({ openapi: { method: 'POST', path: '/internal', enabled: false } })
    .output(z.string())
    .mutation(() => 'internal'),
});

export const appRouter = t.router({ webhook, monitors });
