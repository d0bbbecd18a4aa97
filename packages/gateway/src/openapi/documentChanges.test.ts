import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createGateway } from '../gateway.ts';
import type { GatewayMeta } from '../procedures/meta.ts';
import { documentChanges } from './documentChanges.ts';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const Book = z.object({ id: z.int(), title: z.string() });
const router = t.router({
  books: t.router({
    find: t.procedure
      .meta({ openapi: { method: 'GET', path: '/books/{id}', summary: 'Find a book', protect: false } })
      .input(z.object({ id: z.coerce.number(), fields: z.string().optional() }))
      .output(Book)
      .query(() => ({ id: 1, title: 'Emma' })),
    add: t.procedure
      .meta({
        openapi: {
          method: 'POST',
          path: '/books',
          contentTypes: ['application/json', 'application/x-www-form-urlencoded'],
          requestHeaders: z.object({ 'x-trace': z.string() }),
        },
      })
      .input(z.object({ title: z.string() }))
      .output(Book)
      .mutation(({ input }) => ({ id: 2, ...input })),
    remove: t.procedure
      .meta({ openapi: { method: 'DELETE', path: '/books/{id}' } })
      .input(z.object({ id: z.string() }))
      .output(z.void())
      .mutation(() => {}),
  }),
});

it('documentChanges lists what differs from the document of trpc-to-openapi, by operation', async () => {
  const document = { title: 'Books', version: '1.0.0' };
  const gateway = await createGateway({ router, createContext: () => ({}), document });
  expect(documentChanges(router, await gateway.document())).toEqual([
    '- DELETE /books/{id}: operationId books-remove',
    '- DELETE /books/{id}: response 200 application/json',
    '- DELETE /books/{id}: response 401 application/json',
    '- DELETE /books/{id}: response 403 application/json',
    '- DELETE /books/{id}: response 404 application/json',
    '+ DELETE /books/{id}: operationId books.remove',
    '+ DELETE /books/{id}: response 204',
    '+ DELETE /books/{id}: response 503 application/json',
    '+ DELETE /books/{id}: response 504 application/json',
    '- GET /books/{id}: operationId books-find',
    '- GET /books/{id}: response 404 application/json',
    '+ GET /books/{id}: operationId books.find',
    '+ GET /books/{id}: response 503 application/json',
    '+ GET /books/{id}: response 504 application/json',
    '- POST /books: operationId books-add',
    '- POST /books: response 401 application/json',
    '- POST /books: response 403 application/json',
    '+ POST /books: operationId books.add',
    '+ POST /books: response 413 application/json',
    '+ POST /books: response 415 application/json',
    '+ POST /books: response 503 application/json',
    '+ POST /books: response 504 application/json',
  ]);
});
