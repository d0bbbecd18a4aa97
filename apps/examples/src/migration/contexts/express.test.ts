import { AsyncLocalStorage } from 'node:async_hooks';
import { loadExpress } from '@petstore/testing/express';
import { createExpressMiddleware, type CreateExpressContextOptions } from '@trpc/server/adapters/express';
import cookieParser from 'cookie-parser';
import type { Express, Request } from 'express';
import session from 'express-session';
import { createGateway } from 'trpc-gateway';
import { nodeHandler } from 'trpc-gateway/node';
import { expect, it } from 'vitest';
import { fetchOf, restContexts, routerOf, trpcContexts } from './contexts.ts';

declare module 'express-session' {
  interface SessionData {
    user: string;
  }
}

const express = await loadExpress();

/** A context that reads what Express and its middlewares have added to the request. */
async function createContext({ req }: Pick<CreateExpressContextOptions, 'req'>) {
  return {
    agent: req.headers['user-agent'],
    language: req.acceptsLanguages('fr', 'en'),
    address: req.ip,
    protocol: req.protocol,
    host: req.hostname,
    theme: (req.cookies as Record<string, string>)['theme'],
    user: req.session.user,
  };
}
const appRouter = routerOf<Awaited<ReturnType<typeof createContext>>>();

/** Creates an app with the middlewares that the context needs. */
function createApp(): Express {
  const app = express();
  app.set('trust proxy', true);
  app.use(cookieParser());
  app.use(session({ secret: 'a secret', resave: false, saveUninitialized: false }));
  app.get('/sign-in', (req, res) => {
    req.session.user = 'ada';
    res.end();
  });
  return app;
}

async function serve(app: Express) {
  const fetch = await fetchOf(app.listen(0, '127.0.0.1'));
  const signedIn = await fetch('http://desk.example/sign-in', {});
  const cookie = `theme=dark; ${signedIn.headers.get('set-cookie')?.split(';')[0]}`;
  const headers = {
    cookie,
    'user-agent': 'Desk/1.0',
    'accept-language': 'fr',
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'https',
  };
  return { headers, fetch };
}

it('a context of an Express request stays as it is if the request is stored for the time of the call', async () => {
  const before = createApp();
  before.use('/trpc', createExpressMiddleware({ router: appRouter, createContext }));

  const requests = new AsyncLocalStorage<Request>();
  const gateway = await createGateway({
    router: appRouter,
    createContext: () => createContext({ req: requests.getStore() as Request }),
    document: { title: 'Desk', version: '1.0' },
  });
  const after = createApp();
  after.use((req, _res, next) => requests.run(req, next));
  after.use(nodeHandler(gateway));

  const old = await serve(before);
  const moved = await serve(after);
  const contexts = await trpcContexts(old.headers, old.fetch);
  expect(contexts[0]).toEqual({
    agent: 'Desk/1.0',
    language: 'fr',
    address: '203.0.113.7',
    protocol: 'https',
    host: '127.0.0.1',
    theme: 'dark',
    user: 'ada',
  });
  expect(await trpcContexts(moved.headers, moved.fetch)).toEqual(contexts);
  expect(await restContexts(moved.headers, moved.fetch)).toEqual(contexts);
});
