import { appRouter } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { createGateway, type Handle } from '@petstore/gateway';
import { serve as listen } from '@petstore/gateway/uws';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from './client.ts';
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

test('GET /pets and /pets/{petId} serve a name of 100,000 characters that an earlier version stored', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'petstore-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const store = await openEmbeddedStore({ dataDir });
  const animal = await store.create({ name: 'é'.repeat(100_000), categoryId: 1 });
  await store.close();

  const served = await serve({ dataDir });
  onTestFinished(() => served.close());
  const client = await connect(served);
  expect((await client.get(`/v1/pets/${animal.id}`)).json()).toEqual(animal);
  expect(await client.list()).toEqual([animal]);
  const input = encodeURIComponent(JSON.stringify({ petId: animal.id }));
  expect((await client.get(`/trpc/getPet?input=${input}`)).json()).toEqual({ result: { data: animal } });
});
