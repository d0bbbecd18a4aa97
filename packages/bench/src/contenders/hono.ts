import { serve } from '@hono/node-server';
import { Animal, NewPet, type Page } from '@petstore/core';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { type Context, Hono } from 'hono';
import { validator } from 'hono/validator';
import type { z } from 'zod';
import { Failure, invalid, malformed, notFound, nowhere, unauthorized } from '../petStore/failure.ts';
import { challenge, deprecationByName, nosniff, noStore, requestId } from '../petStore/headers.ts';
import { isAuthorized } from '../petStore/isAuthorized.ts';
import { nextLink, store } from '../petStore/operations.ts';
import { rpcContext } from '../petStore/rpcContext.ts';
import { GetTexts, ListTexts } from '../petStore/schemas.ts';
import { appRouter } from '../petStore/servedRouter.ts';

// Hono on Node, with its validator over zod, and tRPC's own fetch adapter.

const app = new Hono<{ Variables: { id: string } }>();

const fail = (c: Context, failure: Failure) =>
  c.body(JSON.stringify(failure), failure.status as 400, { 'content-type': 'application/json' });

app.use(async (c, next) => {
  const id = requestId(c.req.header('x-request-id'));
  c.set('id', id);
  c.header('x-request-id', id);
  c.header('x-content-type-options', nosniff);
  c.header('cache-control', noStore);
  if (isAuthorized(c.req.header('authorization'))) return next();
  c.header('www-authenticate', challenge);
  return fail(c, unauthorized);
});

/** Checks a part of the request with a schema, as `@hono/zod-validator` does. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- `c.req.valid(target)` is typed by it
const checked = <Target extends 'param' | 'query' | 'json', Schema extends z.ZodType>(
  target: Target,
  schema: Schema,
) =>
  validator(target, (value, c) => {
    const { success, data, error } = schema.safeParse(value);
    return success ? data : fail(c, invalid(error));
  });

app.get('/v1/pets/:petId', checked('param', GetTexts), (c) => {
  const animal = (store.get(c.req.valid('param').petId) as Animal | undefined) ?? notFound;
  for (const [name, value] of Object.entries(deprecationByName)) {
    for (const each of [value].flat()) c.header(name, each, { append: true });
  }
  return animal instanceof Failure ? fail(c, animal) : c.json(animal);
});

app.get('/v1/pets', checked('query', ListTexts), (c) => {
  const query = c.req.valid('query');
  const page = store.list(query) as Page;
  const link = nextLink(query, page);
  if (link !== undefined) c.header('link', link);
  return c.json(page.animals);
});

app.post('/v1/pets', checked('json', NewPet), async (c) => {
  const animal = Animal.parse(await store.create(c.req.valid('json')));
  c.header('location', `/v1/pets/${animal.id}`);
  return c.json(animal, 201);
});

app.all('/trpc/*', (c) =>
  fetchRequestHandler({
    endpoint: '/trpc',
    req: c.req.raw,
    router: appRouter,
    createContext: rpcContext,
    // Hono leaves a response alone that it did not make.
    responseMeta: () => ({
      headers: { 'x-request-id': c.get('id'), 'x-content-type-options': nosniff, 'cache-control': noStore },
    }),
  }),
);
app.notFound((c) => fail(c, nowhere));
app.onError((_error, c) => fail(c, malformed));

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT']) });
