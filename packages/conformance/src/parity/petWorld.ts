import { appRouter } from '@petstore/core';
import { bearer, createGateway } from 'trpc-gateway';
import { serve } from 'trpc-gateway/uws';
import { type Send, inProcess, overPort } from 'trpc-gateway-test';
import { connect } from '../client.ts';
import { memoryStore } from './memoryStore.ts';

const apiKey = 'psk_parity';

/** A pet store with a store in memory, empty at first. */
export interface PetWorld {
  readonly send: Send;
  /** Empties the store: the next animal has the id 1 again. */
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
    maskUnexpectedErrors: true,
  });
  return { gateway, clear };
}

/** Creates a pet store that is called in this process, without a port. */
export async function worldInProcess(): Promise<PetWorld> {
  const { gateway, clear } = await petGateway();
  return { send: inProcess(gateway, apiKey), clear, close: async () => {} };
}

/** Starts a pet store on a free port. */
export async function worldOverPort(): Promise<PetWorld> {
  const { gateway, clear } = await petGateway();
  const listening = await serve(gateway);
  const close = async () => {
    await listening.close();
  };
  const client = await connect({ origin: `http://127.0.0.1:${listening.port}`, apiKey });
  return { send: overPort(client), clear, close };
}
