import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import superjson from 'superjson';
import { z } from 'zod';

const t = initTRPC.context<{ user?: string }>().meta<GatewayMeta>().create({ transformer: superjson });
const Book = z.object({ id: z.int(), title: z.string() });
const stored = [{ id: 1, title: 'Middlemarch' }];

/** @public The Next app serves it. */
export const appRouter = t.router({
  book: t.procedure
    .meta({
      openapi: { method: 'GET', path: '/books/{id}' },
      mcp: { description: 'Returns the book with this id, or nothing.' },
    })
    .input(z.object({ id: z.int() }))
    .output(Book.optional())
    .query(({ input }) => stored.find(({ id }) => id === input.id)),
  add: t.procedure
    .meta({ openapi: { method: 'POST', path: '/books', successStatus: 201 } })
    .input(z.object({ title: z.string() }))
    .output(Book)
    .mutation(({ input }) => {
      const book = { id: stored.length + 1, ...input };
      stored.push(book);
      return book;
    }),
  me: t.procedure.query(({ ctx }) => ctx.user),
  lend: t.procedure
    .meta({ idempotencyKey: 'required', openapi: { method: 'POST', path: '/books/{id}/loans' } })
    .input(z.object({ id: z.int() }))
    .mutation(({ ctx, input }) => {
      if (ctx.user === undefined) throw new TRPCError({ code: 'UNAUTHORIZED' });
      return { ...input, to: ctx.user, at: new Date() };
    }),
  news: t.procedure
    .meta({ openapi: { method: 'GET', path: '/news', event: z.string() } })
    .subscription(async function* ({ signal }) {
      for (;;) {
        yield 'Nothing happened.';
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        if (signal?.aborted) return;
      }
    }),
});
export type AppRouter = typeof appRouter;

/** The options of a gateway that serves books below `/api`. */
export const books = {
  router: appRouter,
  createContext: () => ({}),
  // Only the Next app has users.
  idempotency: { caller: () => undefined },
  restBasePath: '/api/v1',
  trpcBasePath: '/api/trpc',
  mcp: mcp({ path: '/api/mcp' }),
  document: { title: 'Books', version: '1.0.0', path: '/api/openapi.json' },
} as const;
