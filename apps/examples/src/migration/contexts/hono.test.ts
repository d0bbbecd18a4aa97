import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { type Context, Hono } from 'hono';
import { contextStorage, getContext } from 'hono/context-storage';
import { createGateway } from 'trpc-gateway';
import { expect, it } from 'vitest';
import { restContexts, routerOf, trpcContexts } from './contexts.ts';

interface Env {
  readonly Variables: { user: string | undefined };
}

/** A context that reads what Hono and its middlewares know of the request. */
const createContext = (c: Context<Env>) => ({
  agent: c.req.header('user-agent'),
  method: c.req.method,
  user: c.get('user'),
});
const appRouter = routerOf<ReturnType<typeof createContext>>();

const headers = { authorization: 'Bearer ada', 'user-agent': 'Desk/1.0' };

/** Creates an app with the middleware that the context needs. */
function createApp(): Hono<Env> {
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    c.set('user', c.req.header('authorization')?.replace('Bearer ', ''));
    await next();
  });
  return app;
}

it("a context of Hono's stays as it is by Hono's contextStorage", async () => {
  const before = createApp();
  before.all('/trpc/*', (c) =>
    fetchRequestHandler({
      endpoint: '/trpc',
      req: c.req.raw,
      router: appRouter,
      createContext: () => createContext(c),
    }),
  );

  const gateway = await createGateway({
    router: appRouter,
    createContext: () => createContext(getContext<Env>()),
    document: { title: 'Desk', version: '1.0' },
  });
  const after = createApp();
  after.use(contextStorage());
  after.all('*', (c) => gateway.fetch(c.req.raw));

  const contexts = await trpcContexts(headers, before.request);
  expect(contexts).toEqual([
    { agent: 'Desk/1.0', method: 'GET', user: 'ada' },
    { agent: 'Desk/1.0', method: 'POST', user: 'ada' },
  ]);
  expect(await trpcContexts(headers, after.request)).toEqual(contexts);
  expect(await restContexts(headers, after.request)).toEqual(contexts);
});
