import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import { createGateway } from '../gateway.ts';
import type { GatewayOptions } from '../assembly/options.ts';
import type { GatewayMeta } from '../procedures/meta.ts';

/** Builds procedures with the metadata of the gateway, without a context. */
export const t = initTRPC.meta<GatewayMeta>().create();

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
