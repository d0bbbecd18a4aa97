import { clientMessage, type GatewayMeta, type ResponseControls } from '@petstore/gateway/meta';
import { initTRPC } from '@trpc/server';
import type { Store } from './store/store.ts';

/** What the procedures need of their surroundings. */
export interface Context {
  readonly store: Store;
  readonly response: ResponseControls;
  /** Whose call it is, by the hash of the API key; `undefined` where nobody asked for one. */
  readonly caller: string | undefined;
  readonly idempotencyKey: string | undefined;
}

export const { router, procedure } = initTRPC
  .context<Context>()
  .meta<GatewayMeta>()
  .create({
    // Without it an answer carries a stack wherever NODE_ENV is not `production` (@trpc/server 11.25).
    isDev: false,
    errorFormatter: ({ shape, error }) => ({ ...shape, message: clientMessage(error) }),
  });
