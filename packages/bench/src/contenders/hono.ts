import { serve } from '@hono/node-server';
import { NewPet } from '@petstore/core';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { Hono } from 'hono';
import { validator } from 'hono/validator';
import type { z } from 'zod';
import { invalid, notFound, unauthorized } from '../petStore/failure.ts';
import { rpcContext } from '../petStore/rpcContext.ts';
import { GetTexts, ListTexts } from '../petStore/schemas.ts';
import { appRouter } from '../petStore/servedRouter.ts';
import { findPet, listPets, store } from '../petStore/store.ts';

// Hono on Node, with its validator over zod, and tRPC's own fetch adapter.

const app = new Hono();
const authorization = `Bearer ${process.env['API_KEY']}`;

app.use((c, next) =>
  c.req.header('authorization') === authorization ? next() : Promise.resolve(c.json(unauthorized, 401)),
);

/** Checks a part of the request with a schema, as `@hono/zod-validator` does. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- `c.req.valid(target)` is typed by it
const checked = <Target extends 'param' | 'query' | 'json', Schema extends z.ZodType>(
  target: Target,
  schema: Schema,
) =>
  validator(target, (value, c) => {
    const { success, data, error } = schema.safeParse(value);
    return success ? data : c.json(invalid(error), 400);
  });

app.get('/v1/pets/:petId', checked('param', GetTexts), (c) => {
  const animal = findPet(c.req.valid('param').petId);
  return animal === undefined ? c.json(notFound, 404) : c.json(animal);
});
app.get('/v1/pets', checked('query', ListTexts), (c) => c.json(listPets(c.req.valid('query')).records));
app.post('/v1/pets', checked('json', NewPet), async (c) =>
  c.json(await store.create(c.req.valid('json')), 201),
);

app.all('/trpc/*', (c) =>
  fetchRequestHandler({ endpoint: '/trpc', req: c.req.raw, router: appRouter, createContext: rpcContext }),
);

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT']) });
