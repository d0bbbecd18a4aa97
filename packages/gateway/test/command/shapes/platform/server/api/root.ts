import { initTRPC } from '@trpc/server';
import superjson from 'superjson';
import { z, ZodError } from 'zod/v3';

const t = initTRPC.create({
  transformer: superjson,
  errorFormatter: ({ shape, error }) => ({
    ...shape,
    data: { ...shape.data, zodError: error.cause instanceof ZodError ? error.cause.flatten() : null },
  }),
});

const project = z.object({ name: z.string().min(1), env: z.string().default('') });

export const appRouter = t.router({
  project: t.router({
    create: t.procedure.input(project).mutation(({ input }) => input),
    one: t.procedure
      .input(z.object({ projectId: z.string() }))
      .query(({ input }) => ({ ...input, at: new Date(0) })),
    remove: t.procedure.input(z.object({ projectId: z.string() })).mutation(() => true),
  }),
  settings: t.router({ version: t.procedure.query(() => 'v1') }),
});
