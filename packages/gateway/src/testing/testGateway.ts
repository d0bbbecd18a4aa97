import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import { createGateway } from '../gateway.ts';
import type { ResponseControls } from '../http/response.ts';
import type { GatewayOptions } from '../assembly/options.ts';
import type { GatewayMeta, RestMeta } from '../procedures/meta.ts';

/** Builds procedures with the metadata of the gateway, and the context of `testGateway`. */
export const t = initTRPC.context<{ readonly response: ResponseControls }>().meta<GatewayMeta>().create();

/** Creates a procedure that returns its input: a query for GET, otherwise a mutation. */
export function echo(rest: RestMeta, input: z.ZodType = z.object({}), output: z.ZodType = z.unknown()) {
  const base = t.procedure.meta({ openapi: rest }).input(input).output(output);
  return rest.method === 'GET'
    ? base.query(({ input: parsed }) => parsed)
    : base.mutation(({ input: parsed }) => parsed);
}

/** Creates a gateway of a router, with the options that a test does not state. */
export const testGateway = <Router extends AnyTRPCRouter, Identity = unknown>(
  router: Router,
  options: Partial<GatewayOptions<Router, Identity>> = {},
) =>
  createGateway<Router, Identity>({
    router,
    createContext: ({ response }) => ({ response }) as never,
    document: { title: 'Test', version: '0.0.0' },
    idempotency: { caller: () => undefined },
    ...options,
  });
