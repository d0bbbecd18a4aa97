import { mongodbUri, startFaultProxy } from '@petstore/testing/mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newDatabase } from '../testing/newDatabase.ts';
import { apiKey } from '../testing/newFolder.ts';
import { ready } from '../testing/petStoreProcess.ts';
import { listPets } from '../testing/petCalls.ts';

const env = { API_KEY: apiKey, RATE_LIMIT: '100/6000', FAILED_ATTEMPTS: '100/6000' };

describe.skipIf(mongodbUri === undefined)('RATE_LIMIT and FAILED_ATTEMPTS on MongoDB', () => {
  test('two processes, as on two machines, count together, also one that started while the database was unavailable', async () => {
    const { serve, uri } = await newDatabase();
    const proxy = await startFaultProxy(uri);
    onTestFinished(() => proxy.close());
    const first = await serve({ env });
    await ready(first);
    proxy.set({ kind: 'reject' });
    const second = await serve({ env: { ...env, MONGODB_URI: proxy.uri, MONGODB_TIMEOUT_MS: '1000' } });
    expect((await listPets(second.origin)).status).toBe(503);
    proxy.set({ kind: 'none' });
    await ready(second);
    for (let each = 0; each < 200; each += 1) await listPets(first.origin);
    const statusOf = async (key?: string) => (await listPets(second.origin, { ...(key && { key }) })).status;
    await expect.poll(() => statusOf(), { interval: 200 }).toBe(429);
    for (let each = 0; each < 200; each += 1) await listPets(first.origin, { key: 'a-bad-key' });
    await expect.poll(() => statusOf('a-bad-key'), { interval: 200 }).toBe(429);
  });
});
