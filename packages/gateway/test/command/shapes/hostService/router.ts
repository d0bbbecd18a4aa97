import { initTRPC, TRPCError } from '@trpc/server';
import superjson from 'superjson';
import { z } from 'zod';

interface Meta {
  timeoutMs?: number;
}

const t = initTRPC
  .context<object>()
  .meta<Meta>()
  .create({
    transformer: superjson,
    errorFormatter: ({ shape, error }) => ({
      ...shape,
      data: { ...shape.data, cause: error.cause instanceof Error ? error.cause.name : undefined },
    }),
  });

const timed = t.procedure.use(async ({ meta, next }) => {
  const { timeoutMs = 1000 } = meta ?? {};
  const signal = AbortSignal.timeout(timeoutMs);
  return next({ ctx: { timeoutMs, signal } });
});

const git = t.router({
  status: timed.input(z.string()).query(({ input, ctx }) => `${input} is clean (${ctx.timeoutMs} ms)`),
  clone: timed
    .meta({ timeoutMs: 60_000 })
    .input(z.object({ url: z.string(), depth: z.number().optional() }))
    .mutation(({ input, ctx }) => ({ ...input, timeoutMs: ctx.timeoutMs })),
  blame: timed.input(z.string().optional()).query(() => {
    throw new TRPCError({ code: 'PRECONDITION_FAILED', cause: new RangeError('no repository') });
  }),
});

export const router = t.router({
  git,
  health: t.procedure.query(() => ({ ok: true })),
  restart: t.procedure.mutation(() => undefined),
  tag: t.procedure.input(z.object({ tags: z.set(z.string()), size: z.bigint() })).mutation(() => true),
});
