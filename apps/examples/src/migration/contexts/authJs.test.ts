import { loadExpress } from '@petstore/testing/express';
import type { ExpressAuthConfig } from '@auth/express';
import { encode, getToken } from '@auth/core/jwt';
import { createExpressMiddleware, type CreateExpressContextOptions } from '@trpc/server/adapters/express';
import type { Request as ExpressRequest } from 'express';
import { createGateway } from 'trpc-gateway';
import { expect, it } from 'vitest';
import { fetchOf, restContexts, routerOf, trpcContexts } from './contexts.ts';

const express = await loadExpress();
// It imports Express itself.
const { getSession } = await import('@auth/express');

const secret = 'a secret of at least 32 characters';
const config: ExpressAuthConfig = { secret, providers: [], trustHost: true, basePath: '/auth' };
const salt = 'authjs.session-token';

async function createContext({ req }: Pick<CreateExpressContextOptions, 'req'>) {
  const session = await getSession(req, config);
  const token = await getToken({ req: { headers: req.headers as Record<string, string> }, secret });
  return { user: session?.user?.email, subject: token?.sub };
}
const appRouter = routerOf<Awaited<ReturnType<typeof createContext>>>();

it('a context of an Auth.js session receives the protocol and the headers', async () => {
  const before = express();
  before.use('/trpc', createExpressMiddleware({ router: appRouter, createContext }));

  const gateway = await createGateway({
    router: appRouter,
    createContext({ request }) {
      const headers = Object.fromEntries(new Headers([...request.headers()]));
      return createContext({ req: { protocol: request.scheme ?? 'http', headers } as ExpressRequest });
    },
    document: { title: 'Desk', version: '1.0' },
  });

  const token = await encode({ salt, secret, token: { sub: '1', email: 'ada@desk.example' } });
  const headers = { cookie: `${salt}=${token}` };
  const contexts = await trpcContexts(headers, await fetchOf(before.listen(0, '127.0.0.1')));
  expect(contexts[0]).toEqual({ user: 'ada@desk.example', subject: '1' });
  expect(await trpcContexts(headers, gateway.fetch)).toEqual(contexts);
  expect(await restContexts(headers, gateway.fetch)).toEqual(contexts);
  expect(await trpcContexts({}, gateway.fetch)).toEqual([{}, {}]);
});
