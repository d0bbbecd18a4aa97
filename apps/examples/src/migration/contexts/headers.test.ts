import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { createGateway } from 'trpc-gateway';
import { expect, it } from 'vitest';
import { restContexts, routerOf, trpcContexts } from './contexts.ts';

/** A context of headers, as `create-t3-app` writes it for Next. */
const createTRPCContext = async ({ headers }: { readonly headers: Headers }) => ({
  source: headers.get('x-trpc-source'),
  cookie: headers.get('cookie'),
  isMobile: /mobile/i.test(headers.get('user-agent') ?? ''),
  names: [...headers.keys()].filter((name) => name.startsWith('x-')),
});
const appRouter = routerOf<Awaited<ReturnType<typeof createTRPCContext>>>();

const headers = { 'x-trpc-source': 'nextjs-react', cookie: 'theme=dark', 'user-agent': 'Mobile Safari' };

it('a context of Headers, as in Next, stays as it is by new Headers(Object.fromEntries(request.headers()))', async () => {
  const before = (url: string, init: RequestInit) =>
    fetchRequestHandler({
      endpoint: '/trpc',
      req: new Request(url, init),
      router: appRouter,
      createContext: ({ req }) => createTRPCContext({ headers: req.headers }),
    });

  const gateway = await createGateway({
    router: appRouter,
    createContext: ({ request }) =>
      createTRPCContext({ headers: new Headers(Object.fromEntries(request.headers())) }),
    document: { title: 'Desk', version: '1.0' },
  });

  const contexts = await trpcContexts(headers, before);
  expect(contexts[0]).toEqual({
    source: 'nextjs-react',
    cookie: 'theme=dark',
    isMobile: true,
    names: ['x-trpc-source'],
  });
  expect(await trpcContexts(headers, gateway.fetch)).toEqual(contexts);
  expect(await restContexts(headers, gateway.fetch)).toEqual(contexts);
});
