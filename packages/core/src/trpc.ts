import type { GatewayMeta, ResponseControls } from 'trpc-gateway/meta';
import { initTRPC } from '@trpc/server';
import type { Store } from './store/store.ts';

/** Context of all procedures. */
export interface Context {
  readonly store: Store;
  readonly response: ResponseControls;
  /** Hash of the caller's API key; `undefined` if the server runs without authentication. */
  readonly caller: string | undefined;
  readonly idempotencyKey: string | undefined;
}

export const { router, procedure } = initTRPC.context<Context>().meta<GatewayMeta>().create({
  // By default error responses contain the stack unless NODE_ENV is `production` (@trpc/server 11.25).
  isDev: false,
});
