import { declareErrors, type GatewayMeta } from 'trpc-gateway/meta';
import { createTRPCClient, safe, type TRPCClientError, type TRPCLink } from '@trpc/client';
import { initTRPC, tracked } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  callLinks,
  type Endpoints,
  endpointsOf,
  subscriptionLinks,
  superjsonLinks,
  superjsonSubscriptionLinks,
} from '../../trpcClients/clients.ts';
import { startShape } from './startShape.ts';
import superjson from 'superjson';

const shopErrors = declareErrors({
  OUT_OF_STOCK: { status: 409, message: 'Too few are left.', data: z.object({ left: z.int() }) },
});
const outOfStock = (left: number) => shopErrors.OUT_OF_STOCK({ data: { left } });

const createRouter = (t: typeof withJson) =>
  t.router({
    left: t.procedure
      .errors(shopErrors)
      .input(z.int())
      .query(({ input }) => {
        throw outOfStock(input);
      }),
    order: t.procedure
      .meta({ openapi: { method: 'POST', path: '/orders' } })
      .errors(shopErrors)
      .mutation(() => {
        throw outOfStock(3);
      }),
    events: t.procedure
      .errors(shopErrors)
      .input(z.object({ lastEventId: z.string().nullish() }).optional())
      .subscription(async function* () {
        yield tracked('1', 'one');
        throw outOfStock(4);
      }),
  });
const withJson = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const withSuperjson = initTRPC.meta<GatewayMeta>().create({ isDev: false, transformer: superjson });
const jsonRouter = createRouter(withJson);
// The type differs only in its transformer, which these tests do not read.
const superjsonRouter = createRouter(withSuperjson as unknown as typeof withJson);
type ShopRouter = typeof jsonRouter;

type LinkOf = (endpoints: Endpoints) => TRPCLink<ShopRouter>;
const linkCases = (links: object, kind: string, router: ShopRouter) =>
  Object.entries(links).map(
    ([name, linkOf]) => [`${name}${kind}`, linkOf as unknown as LinkOf, router] as const,
  );

const calls = [
  ...linkCases(callLinks, '', jsonRouter),
  ...linkCases(superjsonLinks, ' with a transformer', superjsonRouter),
];
it.each(calls)('a call by %s receives the declared error (trpc #6832)', async (_, linkOf, router) => {
  const { server } = await startShape(router);
  const client = createTRPCClient<ShopRouter>({ links: [linkOf(endpointsOf(server, '/trpc'))] });
  const errors = await Promise.all([
    safe(client.left.query(1)),
    safe(client.left.query(2)),
    safe(client.order.mutate()),
  ]);
  const data = errors.map(([, error]) => (error?.data?.code === 'OUT_OF_STOCK' ? error.data.data : error));
  expect(data).toEqual([{ left: 1 }, { left: 2 }, { left: 3 }]);
  expect(errors.map(([, error]) => [error?.message, error?.data?.httpStatus])).toEqual(
    Array.from({ length: 3 }, () => ['Too few are left.', 409]),
  );
});

const subscriptions = [
  ...linkCases(subscriptionLinks, '', jsonRouter),
  ...linkCases(superjsonSubscriptionLinks, ' with a transformer', superjsonRouter),
];
it.each(subscriptions)(
  'a subscription by %s receives the declared error after its events',
  async (_, linkOf, router) => {
    const { server } = await startShape(router);
    const client = createTRPCClient<ShopRouter>({ links: [linkOf(endpointsOf(server, '/trpc'))] });
    const received: unknown[] = [];
    const error = await new Promise<TRPCClientError<ShopRouter>>((resolve) => {
      const subscription = client.events.subscribe(undefined, {
        onData: ({ data }) => received.push(data),
        onError: (cause) => {
          subscription.unsubscribe();
          resolve(cause);
        },
      });
    });
    expect(received).toEqual(['one']);
    expect(error.shape).toMatchObject({
      message: 'Too few are left.',
      data: { code: 'OUT_OF_STOCK', httpStatus: 409, data: { left: 4 } },
    });
  },
);
