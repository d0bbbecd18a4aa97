import { initTRPC, TRPCError } from '@trpc/server';
import superjson from 'superjson';
import { ZodError } from 'zod';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { findSession, Role } from '~/server/auth';

export const createTRPCContext = async (opts: { headers: Headers }) => ({
  session: findSession(new Headers(opts.headers).get('authorization')),
});

const t = initTRPC
  .context<typeof createTRPCContext>()
  .meta<OpenApiMeta>()
  .create({
    transformer: superjson,
    errorFormatter({ shape, error }) {
      const zodError = error.cause instanceof ZodError ? error.cause.issues.length : null;
      return { ...shape, data: { ...shape.data, zodError } };
    },
  });

export const createTRPCRouter = t.router;
export const publicProcedure = t.procedure;
export const protectedProcedure = t.procedure.use(({ ctx, next }) => {
  if (ctx.session?.role !== Role.Member) throw new TRPCError({ code: 'UNAUTHORIZED' });
  return next({ ctx: { user: ctx.session.user } });
});
