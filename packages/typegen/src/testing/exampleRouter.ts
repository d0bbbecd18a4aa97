import { initTRPC } from '@trpc/server';
import { z } from 'zod';

// The router of the command's tests.

const t = initTRPC.create({
  errorFormatter: ({ shape }) => ({ ...shape, data: { ...shape.data, hint: 'Try again.' } }),
});

export const Book = z
  .object({
    isbn: z.string().meta({ description: 'ISBN-13, digits only.' }),
    title: z.string().meta({ description: 'The title.\nAs on the cover.', deprecated: true }),
    format: z.enum(['print', 'e-book']).default('print'),
  })
  .meta({ id: 'Book', description: 'A book in print.' });

export const Problem = z
  .object({
    message: z.string(),
    code: z.number().meta({ typescript: 'TRPC_ERROR_CODE_NUMBER' }),
    data: z.object({ hint: z.string() }),
  })
  .meta({ id: 'Error' });

const notCalled = (): never => {
  throw new Error('This router is for its types alone.');
};

export const bookRouter = t.router({
  books: t.router({
    find: t.procedure
      .input(z.object({ isbn: z.string() }))
      .output(Book.nullable())
      .query(notCalled),
    add: t.procedure.input(Book).output(Book).mutation(notCalled),
  }),
});

export const otherRouter = initTRPC
  .create()
  .router({ ping: t.procedure.output(z.literal('pong')).query(notCalled) });

/** A router whose types are known in part. */
export const partlyRouter = initTRPC.create().router({
  a: t.procedure.input(z.object({ id: z.int() })).query(() => 1),
  b: t.procedure.output(z.string()).query(notCalled),
  c: t.procedure.subscription(async function* () {
    yield await Promise.resolve(1);
  }),
  d: t.procedure.output(z.string().transform(Number)).mutation(notCalled),
  e: t.procedure.mutation(() => 3),
});
