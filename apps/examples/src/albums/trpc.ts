import type { GatewayMeta, ResponseControls } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import superjson from 'superjson';
import type { AlbumStore } from './albumStore.ts';

export interface Context {
  readonly store: AlbumStore;
  readonly response: ResponseControls;
}

export const { router, procedure } = initTRPC
  .context<Context>()
  .meta<GatewayMeta>()
  // Over tRPC a `Date` stays a `Date`. REST uses JSON.
  .create({ transformer: superjson });
