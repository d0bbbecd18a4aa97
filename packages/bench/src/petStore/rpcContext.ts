import type { Context } from '@petstore/core';
import { ResponseControls } from 'trpc-gateway';
import { petStore } from './store.ts';

/** The context of the pet store's procedures, for contenders that serve its router through tRPC's own adapters. */
export const rpcContext = (): Context => ({
  store: petStore,
  response: new ResponseControls(),
  caller: undefined,
  idempotencyKey: undefined,
});
