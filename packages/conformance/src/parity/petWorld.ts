import { appRouter } from '@petstore/core';
import { bearer, createGateway } from '@petstore/gateway';
import { serve } from '@petstore/gateway/uws';
import { type Send, inProcess, overPort } from '@petstore/gateway-test';
import { connect } from '../client.ts';
import { memoryStore } from './memoryStore.ts';

const apiKey = 'psk_parity';

/** A pet store of its own, empty at first. */
export interface PetWorld {
  readonly ask: Send;
  /** Empties it: the next animal has the id 1 again. */
  clear(): void;
  close(): Promise<void>;
}

async function petGateway() {
  const { store, clear } = memoryStore();
  const gateway = await createGateway({
    router: appRouter,
    authentication: bearer({
      noun: 'API key',
      verify: (token) => (token === apiKey ? { name: 'parity' } : undefined),
    }),
    createContext: ({ response, identity, idempotencyKey }) => ({
      store,
      response,
      caller: identity?.name,
      idempotencyKey,
    }),
    document: { title: 'Pet Store', version: '1.0.0' },
  });
  return { gateway, clear };
}

export async function worldInProcess(): Promise<PetWorld> {
  const { gateway, clear } = await petGateway();
  return { ask: inProcess(gateway, apiKey), clear, close: async () => {} };
}

export async function worldOverPort(): Promise<PetWorld> {
  const { gateway, clear } = await petGateway();
  const listening = await serve(gateway);
  const close = async () => {
    await listening.close();
  };
  const client = await connect({ origin: `http://127.0.0.1:${listening.port}`, apiKey });
  return { ask: overPort(client), clear, close };
}
