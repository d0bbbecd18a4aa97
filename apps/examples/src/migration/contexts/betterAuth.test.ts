import { loadExpress } from '@petstore/testing/express';
import { createExpressMiddleware, type CreateExpressContextOptions } from '@trpc/server/adapters/express';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { createGateway } from 'trpc-gateway';
import { nodeHandler } from 'trpc-gateway/node';
import { expect, it } from 'vitest';
import { fetchOf, restContexts, routerOf, trpcContexts } from './contexts.ts';

const express = await loadExpress();

const auth = betterAuth({
  baseURL: 'http://desk.example',
  secret: 'a secret of at least 32 characters',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
});

async function createContext({ req }: CreateExpressContextOptions) {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(req.headers) });
  return { user: session?.user.email };
}
const appRouter = routerOf<Awaited<ReturnType<typeof createContext>>>();

it('a context of a better-auth session receives the headers by new Headers([...request.headers()])', async () => {
  const before = express();
  before.all('/api/auth/*splat', toNodeHandler(auth));
  before.use('/trpc', createExpressMiddleware({ router: appRouter, createContext }));

  const gateway = await createGateway({
    router: appRouter,
    async createContext({ request }) {
      const session = await auth.api.getSession({
        headers: new Headers([...request.headers()]),
      });
      return { user: session?.user.email };
    },
    document: { title: 'Desk', version: '1.0' },
  });
  const after = express();
  after.all('/api/auth/*splat', toNodeHandler(auth));
  after.use(nodeHandler(gateway));

  const { headers: received } = await auth.api.signUpEmail({
    body: { email: 'ada@desk.example', name: 'Ada', password: 'lovelace' },
    returnHeaders: true,
  });
  const headers = { cookie: received.get('set-cookie')?.split(';')[0] ?? '' };
  const contexts = await trpcContexts(headers, await fetchOf(before.listen(0, '127.0.0.1')));
  expect(contexts).toEqual([{ user: 'ada@desk.example' }, { user: 'ada@desk.example' }]);
  const mounted = await fetchOf(after.listen(0, '127.0.0.1'));
  expect(await trpcContexts(headers, mounted)).toEqual(contexts);
  expect(await restContexts(headers, mounted)).toEqual(contexts);
  expect(await restContexts(headers, gateway.fetch)).toEqual(contexts);
  expect(await trpcContexts({}, gateway.fetch)).toEqual([{}, {}]);
});
