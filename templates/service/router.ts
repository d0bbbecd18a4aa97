import { initTRPC, TRPCError } from '@trpc/server';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';

const t = initTRPC.meta<GatewayMeta>().create();

const Book = z.object({ id: z.int(), title: z.string() }).meta({ id: 'Book' });
const books = [{ id: 1, title: 'Middlemarch' }];

export const appRouter = t.router({
  book: t.procedure
    // Procedures without `protect: false` require the API key.
    .meta({ openapi: { method: 'GET', path: '/books/{id}', protect: false, errorResponses: [404] } })
    .input(z.object({ id: z.int() }))
    .output(Book)
    .query(({ input }) => {
      const book = books.find(({ id }) => id === input.id);
      if (book === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'No such book.' });
      return book;
    }),
  addBook: t.procedure
    .meta({ openapi: { method: 'POST', path: '/books', successStatus: 201 } })
    .input(z.object({ title: z.string().min(1) }))
    .output(Book)
    .mutation(({ input }) => {
      const book = { id: books.length + 1, ...input };
      books.push(book);
      return book;
    }),
});

export type AppRouter = typeof appRouter;
