import { appRouter, type Store } from '@petstore/core';
import { bearer, createGateway, type Gateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';

/** Creates the gateway of a pet store in this process, which accepts one API key. */
export const petGateway = (store: Store, apiKey: string): Promise<Gateway> =>
  createGateway({
    router: appRouter,
    authentication: bearer({
      realm: 'petstore',
      noun: 'API key',
      verify: (token) => (token === apiKey ? { name: 'conformance' } : undefined),
    }),
    createContext: ({ response, identity, idempotencyKey }) => ({
      store,
      response,
      caller: identity?.name,
      idempotencyKey,
    }),
    document: { title: 'Pet Store', version: '1.0.0' },
    maskUnexpectedErrors: true,
    mcp: mcp(),
  });
