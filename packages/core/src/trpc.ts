import type { GatewayMeta, ResponseControls } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import type { Store } from './store/store.ts';

export interface Context {
  readonly store: Store;
  readonly response: ResponseControls;
  /** Hash of the caller's API key; `undefined` if the server runs without authentication. */
  readonly caller: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** The metadata of the procedures is valid for trpc-to-openapi, whose generator can document the router too. */
export const { router, procedure } = initTRPC.context<Context>().meta<OpenApiMeta<GatewayMeta>>().create();
