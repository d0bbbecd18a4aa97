import { appRouter } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { bearer, createGateway, type Service } from 'trpc-gateway';
import { serve } from 'trpc-gateway/uws';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connect } from '../client.ts';
import { apiKey } from './badRequest.ts';

const healthy: Service['handle'] = () => ({
  status: 200,
  headers: [['Content-Type', 'application/json']],
  body: '{}',
});

/** A pet store with the embedded store, on a real port. */
export interface ServedStore {
  readonly client: Client;
  readonly port: number;
  /** Strings that no response may contain. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

/** Starts a pet store on a free port, with an embedded store in a temporary folder. */
export async function serveStore(): Promise<ServedStore> {
  const dataDir = await mkdtemp(join(tmpdir(), 'petstore-'));
  const store = await openEmbeddedStore({ dataDir });
  const gateway = await createGateway({
    router: appRouter,
    authentication: bearer({
      realm: 'petstore',
      noun: 'API key',
      verify: (token) => (token === apiKey ? { name: 'bad input' } : undefined),
    }),
    createContext: ({ response, identity, idempotencyKey }) => ({
      store,
      response,
      caller: identity?.name,
      idempotencyKey,
    }),
    document: { title: 'Pet Store', version: '1.0.0' },
    maskUnexpectedErrors: true,
    routes: { '/healthz': healthy },
  });
  const listening = await serve(gateway);
  const close = async () => {
    await listening.close();
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  const client = await connect({ origin: `http://127.0.0.1:${listening.port}`, apiKey });
  return { client, port: listening.port, secrets: [dataDir, apiKey, 'node_modules'], close };
}
