import type { GatewayMeta, ResponseControls } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

/** A router with every type of query parameter, and with responses whose headers procedures set. */

interface Context {
  readonly response: ResponseControls;
}

const t = initTRPC.context<Context>().meta<GatewayMeta>().create();

const BookId = z.int().positive().brand('BookId');
const Genre = z.enum(['novel', 'poetry', 'essay']).meta({ id: 'Genre' });
const NewBook = z
  .object({
    title: z.string().min(1),
    pages: z.int().positive(),
    genre: Genre.optional(),
    isbn: z.string().nullable().default(null),
    tags: z.array(z.string()).default([]),
  })
  .meta({ id: 'NewBook' });
const Book = z.object({ id: z.int(), ...NewBook.shape }).meta({ id: 'Book' });

const book = (id: number, fields: z.output<typeof NewBook>): z.output<typeof Book> => ({ id, ...fields });
const middlemarch = book(1, { title: 'Middlemarch', pages: 880, genre: 'novel', isbn: null, tags: [] });

/** The input of the resolver as JSON, which shows each conversion. */
const ReceivedInput = z.record(z.string(), z.unknown());
const returnInput = (input: object): z.output<typeof ReceivedInput> =>
  Object.fromEntries(
    Object.entries(input).map(([name, value]: [string, unknown]) => [name, describe(value)]),
  );
function describe(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Date) return `Date(${value.toISOString()})`;
  return value;
}

const books = t.router({
  search: t.procedure
    .meta({ openapi: { method: 'GET', path: '/books' } })
    .input(
      z.object({
        text: z.string().optional(),
        minPages: z.int().optional(),
        price: z.number().optional(),
        inPrint: z.boolean().optional(),
        barcode: z.bigint().optional(),
        since: z.date().optional(),
        genre: Genre.optional(),
        shelf: z.literal([1, 2, 'annex']).optional(),
        tag: z.array(z.string()).optional(),
        year: z.array(z.int()).default([1999]),
        sort: z.enum(['title', 'pages']).default('title'),
        volume: z.int().nullable().optional(),
        code: z
          .string()
          .transform((value) => value.toUpperCase())
          .optional(),
        ratio: z.codec(z.string(), z.number(), { decode: Number, encode: String }).optional(),
        limit: z.union([z.int(), z.literal('all')]).optional(),
        flag: z.stringbool().optional(),
        reference: z.string().brand('Reference').readonly().optional(),
      }),
    )
    .output(ReceivedInput)
    .query(({ input }) => returnInput(input)),

  create: t.procedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/books',
        successStatus: [201, 200],
        headers: {
          Location: { description: 'The book.', value: ({ id }, { basePath }) => `${basePath}/books/${id}` },
          'X-Tags': { description: 'Its tags.', value: ({ tags }) => tags.join(' ') },
        },
      },
    })
    .input(NewBook)
    .output(Book)
    .mutation(({ input, ctx }) => {
      if (input.title === middlemarch.title) {
        ctx.response.status = 200;
        ctx.response.header('X-Known', 'yes');
        return middlemarch;
      }
      return book(2, input);
    }),

  cover: t.procedure
    .meta({ openapi: { method: 'GET', path: '/books/{bookId}/cover', tags: ['books'], successStatus: 303 } })
    .input(z.object({ bookId: BookId }))
    .output(z.void())
    .query(({ input, ctx }) => ctx.response.redirect(`https://covers.test/${input.bookId}`)),
});

const desk = t.router({
  hello: t.procedure
    .meta({ openapi: { method: 'GET', path: '/hello/{name}', protect: false } })
    .input(z.object({ name: z.string() }))
    .output(z.object({ text: z.string() }))
    .query(({ input }) => ({ text: `Hello ${input.name}` })),

  visits: t.procedure
    .meta({ openapi: { method: 'GET', path: '/rooms/{room}/visits', pagination: { cursor: 'after' } } })
    .input(z.object({ room: z.string(), after: z.string().optional(), kind: z.array(z.string()).optional() }))
    .output(z.array(z.string()))
    .query(({ input, ctx }) => {
      if (input.after === undefined) ctx.response.nextCursor = 'second & last';
      return [input.after ?? 'first'];
    }),

  maybe: t.procedure
    .meta({ openapi: { method: 'POST', path: '/maybe' } })
    .input(z.object({ there: z.boolean().default(false) }))
    .output(z.object({ at: z.date() }).optional())
    .mutation(({ input }) => (input.there ? { at: new Date(0) } : undefined)),

  broken: t.procedure
    .meta({ openapi: { method: 'GET', path: '/broken/{how}' } })
    .input(z.object({ how: z.enum(['status', 'header']) }))
    .output(z.object({ ok: z.boolean() }))
    .query(({ input: { how }, ctx }) => {
      if (how === 'status') ctx.response.status = 299;
      if (how === 'header') ctx.response.header('x-split', 'a\r\nx-injected: b');
      return { ok: true };
    }),
});

export const libraryRouter = t.router({ books, desk });
