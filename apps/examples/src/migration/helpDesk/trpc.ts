import { initTRPC, TRPCError } from '@trpc/server';
import superjson from 'superjson';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { AppError } from './appError.ts';
import type { Session } from './sessions.ts';

export interface Context {
  readonly session: Session | undefined;
  readonly address: string | undefined;
}

const t = initTRPC
  .context<Context>()
  .meta<OpenApiMeta>()
  .create({
    transformer: superjson,
    isDev: false,
    errorFormatter({ shape, error }) {
      const { cause } = error;
      const isAppError = cause instanceof AppError;
      return {
        ...shape,
        data: {
          ...shape.data,
          ...(isAppError && { code: cause.code, httpStatus: cause.status }),
          appError: isAppError ? { code: cause.code, hint: cause.hint } : null,
        },
      };
    },
  });

export const { router } = t;
export const publicProcedure = t.procedure;

export const procedure = publicProcedure.use(({ ctx: { session }, next }) => {
  if (!session) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Sign in first.' });
  return next({ ctx: { session } });
});

export const adminProcedure = procedure.use(({ ctx: { session }, next }) => {
  if (session.role !== 'admin') throw new AppError('FORBIDDEN', 'Only admins may do this.', 'Ask an admin.');
  return next();
});
