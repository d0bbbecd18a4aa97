import { declareErrors, type GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

// A router with declared errors, for tests of its clients' types. It is never called.

const t = initTRPC.meta<GatewayMeta>().create();

export const shopErrors = declareErrors({
  OUT_OF_STOCK: { status: 409, data: z.object({ left: z.int() }) },
  ALREADY_ORDERED: { status: 409, data: z.object({ orderId: z.string() }) },
  SHOP_CLOSED: { status: 423 },
});

export const shopRouter = t.router({
  order: t.procedure
    .meta({ openapi: { method: 'POST', path: '/orders', errorResponses: [409] } })
    .errors(shopErrors)
    .output(z.object({ id: z.int() }))
    .mutation(() => {
      throw shopErrors.SHOP_CLOSED();
    }),
});
