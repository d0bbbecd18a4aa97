import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { petStoreConformance } from './petStoreConformance.ts';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { expect, onTestFinished, test } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { serveProcess } from '../testing/serveProcess.ts';
import { collections, animals } from '@petstore/core';

const serve = serveProcess();

// The suite also runs in `mongodb/`, on the other store, and in `bun.test.ts`, on another adapter and runtime.
petStoreConformance('the process, from its sources, on the embedded store', serve);

test('GET /pets and /pets/{petId} serve a name of 100,000 characters that an earlier version stored', async () => {
  const dataDir = await temporaryFolder();
  const store = await openEmbeddedStore({ dataDir, collections });
  const animal = await store.collection(animals).create({ name: 'é'.repeat(100_000), categoryId: 1 });
  await store.close();

  const served = await serve({ dataDir });
  onTestFinished(() => served.close());
  const get = async (target: string): Promise<unknown> => {
    const response = await fetch(served.origin + target, { headers: { authorization: `Bearer ${apiKey}` } });
    return response.json();
  };
  expect(await get(`/v1/pets/${animal.id}`)).toEqual(animal);
  expect(await get('/v1/pets')).toEqual([animal]);
  const input = encodeURIComponent(JSON.stringify({ petId: animal.id }));
  expect(await get(`/trpc/getPet?input=${input}`)).toEqual({ result: { data: animal } });
});
