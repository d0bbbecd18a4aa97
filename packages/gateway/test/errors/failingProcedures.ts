import { initTRPC } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';

const builder = initTRPC.meta<GatewayMeta>().context<object>().create().procedure;

/** Procedures that throw `thrown`, each in another way, at `/v1/path` if REST can send the error. */
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
