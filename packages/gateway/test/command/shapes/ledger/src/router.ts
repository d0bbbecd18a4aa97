import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import type { Context } from './context';

const t = initTRPC.context<Context>().create();

export const appRouter = t.router({
  who: t.procedure.input(z.object({ page: z.string().optional() })).query(({ ctx }) => ctx),
  tag: t.procedure.input(z.object({ tags: z.set(z.string()), size: z.bigint() })).mutation(() => true),
});
