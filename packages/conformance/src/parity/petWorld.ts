import { listen, type Send, inProcess, overPort } from 'trpc-gateway-test';
import { connect } from '../client.ts';
import { petGateway } from '../petGateway.ts';
import { memoryStore } from './memoryStore.ts';

const apiKey = 'psk_parity';

/** A pet store with a store in memory, empty at first. */
export interface PetWorld {
  readonly send: Send;
  /** Empties the store: the next animal has the id 1 again. */
  clear(): void;
  close(): Promise<void>;
}

async function createWorld() {
  const { store, clear } = memoryStore();
  return { gateway: await petGateway(store, apiKey), clear };
}

/** Creates a pet store that is called in this process, without a port. */
export async function worldInProcess(): Promise<PetWorld> {
  const { gateway, clear } = await createWorld();
  return { send: inProcess(gateway, apiKey), clear, close: async () => {} };
}

/** Starts a pet store on a free port. */
export async function worldOverPort(): Promise<PetWorld> {
  const { gateway, clear } = await createWorld();
  const listening = await listen(gateway);
  const close = async () => {
    await listening.close();
  };
  const client = await connect({ origin: `http://127.0.0.1:${listening.port}`, apiKey });
  return { send: overPort(client), clear, close };
}
