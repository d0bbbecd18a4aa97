import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { createGateway } from 'trpc-gateway';
import { serve } from 'trpc-gateway/node';
import { expect, it, onTestFinished } from 'vitest';
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

const startGateway = () =>
  createGateway({
    router: appRouter,
    createContext: ({ request }) => createTRPCContext({ headers: new Headers([...request.headers()]) }),
    document: { title: 'Desk', version: '1.0' },
  });

it('a context of Headers, as in Next, stays as it is by new Headers([...request.headers()])', async () => {
  const before = (url: string, init: RequestInit) =>
    fetchRequestHandler({
      endpoint: '/trpc',
      req: new Request(url, init),
      router: appRouter,
      createContext: ({ req }) => createTRPCContext({ headers: req.headers }),
    });

  const gateway = await startGateway();
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

it('Headers of a request have the values of all its headers of a name', async () => {
  const { port, close } = await serve(await startGateway());
  onTestFinished(async () => void (await close()));
  const socket = connect(port, '127.0.0.1');
  const repeated = 'Cookie: theme=dark\r\nCookie: session=1\r\nX-Trpc-Source: a\r\nX-Trpc-Source: b\r\n';
  socket.end(`GET /v1/read HTTP/1.1\r\nHost: desk.example\r\n${repeated}\r\n`);
  await once(socket, 'connect');
  expect(await text(socket)).toContain('"source":"a, b","cookie":"theme=dark; session=1"');
});

it('a context of the AsyncLocalStorage around gateway.fetch, as of Hono, stays as it is', async () => {
  const storage = new AsyncLocalStorage<string>();
  const gateway = await createGateway({
    router: routerOf<{ user: string | undefined }>(),
    createContext: () => ({ user: storage.getStore() }),
    document: { title: 'Desk', version: '1.0' },
  });
  const fetch = (url: string, init: RequestInit) => storage.run('ada', () => gateway.fetch(url, init));
  const contexts = [{ user: 'ada' }, { user: 'ada' }];
  expect([await trpcContexts({}, fetch), await restContexts({}, fetch)]).toEqual([contexts, contexts]);
});
