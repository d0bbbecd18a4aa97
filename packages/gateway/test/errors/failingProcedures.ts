import { initTRPC } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';

const builder = initTRPC.meta<GatewayMeta>().context<object>().create().procedure;

/**
 * Procedures that fail with what `thrown` creates, each in another way. Over REST, that of `path` is at `/v1/path`; those that
 * only tRPC can send are not served there.
 */
export function failingProcedures(base: typeof builder, thrown: () => unknown) {
  const fail = (): never => {
    throw thrown();
  };
  const mcp = { description: 'Fails.' };
  const served = base.meta({ openapi: true, mcp });
  const events = base.meta({ openapi: { event: z.number() }, mcp });
  return {
    query: served.query(fail),
    mutation: served.meta({ idempotencyKey: 'optional' }).mutation(async () => {
      await Promise.resolve();
      return fail();
    }),
    middleware: base.use(fail).query(() => 1),
    promise: base.query(() => ({ later: Promise.reject(thrown() as Error) })),
    values: base.query(async function* () {
      yield 1;
      fail();
    }),
    events: events.subscription(async function* () {
      yield 1;
      fail();
    }),
    /** Fails before its first event. */
    noEvents: events.subscription(async function* () {
      yield* [];
      fail();
    }),
    /** Fails before it returns its events. */
    refused: events.subscription(fail),
    observable: base.subscription(() =>
      observable<number>((observer) => {
        observer.next(1);
        observer.error(thrown());
      }),
    ),
  };
}
