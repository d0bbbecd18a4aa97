import { mongodbUri, startFaultProxy } from '@petstore/testing/mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newDatabase } from '../testing/newDatabase.ts';
import { apiKey } from '../testing/newFolder.ts';
import { ready } from '../testing/petStoreProcess.ts';
import { listPets } from '../testing/petCalls.ts';

const env = { API_KEY: apiKey, RATE_LIMIT: '100/6000', FAILED_ATTEMPTS: '100/6000' };

/** Sends 200 calls, in turns to each process, and counts their statuses. */
async function statuses(origins: readonly string[], key: string): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let each = 0; each < 200; each += 1) {
    const { status } = await listPets(origins[each % origins.length] ?? '', { key });
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

describe.skipIf(mongodbUri === undefined)('RATE_LIMIT and FAILED_ATTEMPTS on MongoDB', () => {
  test('two processes, as on two machines, count together, and one that starts later counts with them', async () => {
    const { serve } = await newDatabase();
    const servers = [await serve({ env }), await serve({ env })];
    await Promise.all(servers.map((server) => ready(server)));
    const origins = servers.map(({ origin }) => origin);
    // Never more, and up to 5% less.
    const { 200: served = 0, 429: limited = 0 } = await statuses(origins, apiKey);
    expect(served).toBeGreaterThanOrEqual(95);
    expect([served <= 100, served + limited]).toEqual([true, 200]);
    const { 401: rejected = 0, 429: refused = 0 } = await statuses(origins, 'a-bad-key');
    expect(rejected).toBeGreaterThanOrEqual(95);
    expect([rejected <= 100, rejected + refused]).toEqual([true, 200]);
    const later = await serve({ env });
    await ready(later);
    expect((await listPets(later.origin)).status).toBe(429);
  });

  test('a process that starts while the database is unavailable counts with the others when it is back', async () => {
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
    await statuses([first.origin], apiKey);
    const isLimited = async () => (await listPets(second.origin)).status;
    await expect.poll(isLimited, { interval: 200 }).toBe(429);
  });
});
