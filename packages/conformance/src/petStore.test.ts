import { appRouter } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { createGateway, type Handle } from '@petstore/gateway';
import { serve as listen } from '@petstore/gateway/uws';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { petStoreConformance } from './petStore.ts';
import type { Serve } from './serve.ts';

const API_KEY = 'psk_conformance';
const healthy: Handle = () => ({ status: 200, headers: [['Content-Type', 'application/json']], body: '{}' });

/** The gateway, the router and the embedded store in this process: what `apps/server` wires, in one screen. */
const serve: Serve = async ({ dataDir, publicUrl, maxBodyBytes } = {}) => {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'petstore-')));
  const store = await openEmbeddedStore({ dataDir: folder });
  const gateway = await createGateway({
    router: appRouter,
    authenticate: (token) => (token === API_KEY ? { name: 'conformance' } : undefined),
    createContext: ({ reply, identity, idempotencyKey }) => ({
      store,
      reply,
      caller: identity?.name,
      idempotencyKey,
    }),
    realm: 'petstore',
    document: { title: 'Pet Store', version: '1.0.0' },
    routes: { '/healthz': healthy, '/readyz': healthy },
    ...(publicUrl !== undefined && { publicUrl }),
    ...(maxBodyBytes !== undefined && { maxBodyBytes }),
  });
  const listening = await listen(gateway);
  return {
    origin: `http://${listening.host}:${listening.port}`,
    apiKey: API_KEY,
    async close() {
      await listening.close();
      await store.close();
      if (dataDir === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
};

petStoreConformance('the pet store in this process, on the embedded store', serve);
