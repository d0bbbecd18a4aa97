import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

const t = initTRPC.meta<GatewayMeta>().create();
const Book = z.object({ id: z.int(), title: z.string() });
const stored = [{ id: 1, title: 'Middlemarch' }];

const appRouter = t.router({
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
  restBasePath: '/api/v1',
  trpcBasePath: '/api/trpc',
  mcp: mcp({ path: '/api/mcp' }),
  document: { title: 'Books', version: '1.0.0', path: '/api/openapi.json' },
} as const;
