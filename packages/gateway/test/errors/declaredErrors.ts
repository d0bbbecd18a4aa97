import { declareErrors, type GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import { z } from 'zod';

// Shapes of declared errors. Test titles name the GitHub threads that ask for them.

export const t = initTRPC.meta<GatewayMeta>().create();

const shopErrors = declareErrors({
  OUT_OF_STOCK: { status: 409, message: 'Too few are left.', data: z.object({ left: z.int() }) },
  ALREADY_ORDERED: { status: 409, data: z.object({ orderId: z.int() }) },
  SHOP_CLOSED: { status: 423 },
});

const secret = 'mongodb://root:hunter2@db.internal';

export const shopRouter = t.router({
  order: t.procedure
    .meta({ openapi: { method: 'POST', path: '/orders', errorResponses: { 409: 'The order is locked.' } } })
    .errors(shopErrors)
    .input(z.object({ count: z.int() }))
    .output(z.object({ id: z.int() }))
    .mutation(({ input: { count } }) => {
      if (count > 9) {
        const data = { left: 2, shelf: secret };
        throw shopErrors.OUT_OF_STOCK({ data, cause: new Error(secret) });
      }
      if (count === 0) throw shopErrors.SHOP_CLOSED({ message: 'Open from 9 to 5.' });
      if (count === 1) throw shopErrors.ALREADY_ORDERED({ data: { orderId: 7 } });
      if (count === 2) throw new TRPCError({ code: 'CONFLICT', message: 'Locked.', cause: { data: secret } });
      if (count === 3) throw new Error(secret);
      if (count === 4) throw shopErrors.OUT_OF_STOCK({ data: { left: 'two' as unknown as number } });
      return { id: count };
    }),
  undeclared: t.procedure
    .meta({ openapi: { method: 'GET', path: '/undeclared' } })
    .output(z.void())
    .query(() => {
      throw shopErrors.OUT_OF_STOCK({ data: { left: 2 } });
    }),
});

class RateLimited extends Error {
  readonly retryAfterMs = 500;
}

export const undescribedFormatter = t.router({
  a: t.procedure
    .meta({ openapi: { method: 'GET', path: '/a' } })
    .errors(({ shape }) => ({ ...shape, data: { code: 'HINT' as const, hint: secret } }))
    .output(z.void())
    .query(() => {
      throw new TRPCError({ code: 'NOT_FOUND', cause: new Error(secret) });
    }),
});

const write = t.procedure.errors(({ error, shape }) => {
  if (!(error.cause instanceof RateLimited)) return undefined;
  const { message: hint } = error;
  return { ...shape, message: 'Slow down.', data: { httpStatus: 429, hint } };
});

const thrown = () => {
  throw new RateLimited(secret);
};

const quiet = t.procedure.errors(({ shape }) => ({ ...shape, data: { ...shape.data, httpStatus: 503 } }));

export const written = t.router({
  write: write
    .meta({ openapi: { method: 'GET', path: '/write' } })
    .output(z.void())
    .query(thrown),
  quiet: quiet
    .meta({ openapi: { method: 'GET', path: '/quiet' } })
    .input(z.object({ a: z.int() }))
    .output(z.void())
    .query(thrown),
  passed: t.procedure
    .errors(({ shape }) => shape)
    .meta({ openapi: { method: 'GET', path: '/passed' } })
    .input(z.object({ a: z.int() }))
    .output(z.void())
    .query(thrown),
});

export const subscribed = t.router({
  ticks: t.procedure
    .meta({ openapi: { method: 'GET', path: '/ticks', event: z.int() } })
    .errors(shopErrors)
    .subscription(async function* () {
      yield 1;
      throw shopErrors.OUT_OF_STOCK({ data: { left: 0 } });
    }),
});

const sessionErrors = declareErrors({ SESSION_ENDED: { status: 401 }, ACCOUNT_LOCKED: { status: 403 } });

const session = t.procedure
  .errors(sessionErrors)
  .input(z.object({ locked: z.boolean() }))
  .output(z.void());

export const challengeless = t.router({
  declared: session
    .meta({ openapi: { method: 'GET', path: '/declared' }, scopes: ['read'] })
    .query(({ input: { locked } }) => {
      throw locked ? sessionErrors.ACCOUNT_LOCKED() : sessionErrors.SESSION_ENDED();
    }),
  others: t.procedure
    .meta({ openapi: { method: 'GET', path: '/others' }, scopes: ['read'] })
    .output(z.void())
    .query(() => {}),
});
