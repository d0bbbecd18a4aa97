import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { signIn } from './sessions.ts';
import { ticketRouter } from './tickets.ts';
import { procedure, publicProcedure, router } from './trpc.ts';

const tags = ['account'];

export const appRouter = router({
  account: router({
    signIn: publicProcedure
      .meta({ openapi: { method: 'POST', path: '/sign-in', tags, protect: false } })
      .input(z.object({ email: z.email(), password: z.string().min(6) }))
      .output(z.object({ token: z.string() }))
      .mutation(({ input: { email, password } }) => {
        const token = signIn(email, password);
        if (token === undefined)
          throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Wrong email address or password.' });
        return { token };
      }),
    me: procedure
      .meta({ openapi: { method: 'GET', path: '/me', tags } })
      .input(z.void())
      .output(z.object({ email: z.string(), role: z.enum(['admin', 'agent']) }))
      .query(({ ctx: { session } }) => session),
  }),
  tickets: ticketRouter,
  reports: router({
    /** Its error is unexpected. */
    broken: procedure
      .meta({ openapi: { method: 'GET', path: '/reports/broken', tags: ['reports'] } })
      .input(z.object({ from: z.bigint().optional() }))
      .output(z.array(z.number()))
      .query(() => {
        throw new Error('The report is not ready. Try again tomorrow.');
      }),
  }),
});
export type AppRouter = typeof appRouter;
