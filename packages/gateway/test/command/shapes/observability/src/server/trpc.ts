import { initTRPC, TRPCError } from '@trpc/server';
import superjson from 'superjson';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getServerSession } from '@/src/server/session';

interface CreateNextContextOptions {
  req: IncomingMessage & { cookies: Partial<Record<string, string>> };
  res: ServerResponse;
}

export const createTRPCContext = async ({ req, res }: CreateNextContextOptions) => {
  const session = await getServerSession(req, res);
  return { session, headers: req.headers };
};

export class ProjectError extends Error {}

const t = initTRPC.context<typeof createTRPCContext>().create({
  transformer: superjson,
  errorFormatter: ({ shape, error }) =>
    error.cause instanceof ProjectError ? { ...shape, message: error.cause.message } : shape,
});

const signedIn = t.middleware(({ ctx, next }) => {
  if (!ctx.session) throw new TRPCError({ code: 'UNAUTHORIZED' });
  return next({ ctx: { session: ctx.session } });
});
const inProject = t.middleware(async ({ ctx, next, getRawInput }) => {
  const { projectId } = (await getRawInput()) as { projectId?: string };
  if (projectId !== 'p1')
    throw new TRPCError({ code: 'FORBIDDEN', cause: new ProjectError('No such project') });
  return next({ ctx: { ...ctx, projectId } });
});

export const router = t.router;
export const projectProcedure = t.procedure.use(signedIn).use(inProject);
