import { setTimeout as sleep } from 'node:timers/promises';
import { mongodbUri, startFaultProxy } from '@petstore/testing/mongodb';
import { measured } from '@petstore/testing/slowness';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newDatabase } from '../testing/newDatabase.ts';
import { apiKey } from '../testing/newFolder.ts';
import { logLines } from '@petstore/testing/serviceProcess';
import { ready } from '../testing/petStoreProcess.ts';

const send = async (origin: string, path: string, key: string = apiKey) => {
  const since = performance.now();
  const response = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: await response.json(),
    ms: performance.now() - since,
  };
};

const keysIn = (text: string) => text.match(/psk_[\w-]{43}/g) ?? [];

/** Creates a database behind a proxy that can make it unavailable. */
async function newDistantDatabase() {
  const database = await newDatabase();
  const proxy = await startFaultProxy(database.uri);
  onTestFinished(() => proxy.close());
  // A short timeout, because the database is unavailable.
  return { ...database, proxy, env: { MONGODB_TIMEOUT_MS: '1000', MONGODB_URI: proxy.uri } };
}

const unavailable = { status: 503, retryAfter: '1', body: { status: 'unavailable', reason: 'unavailable' } };
const within = { interval: 50 };

// That servers lose nothing and recover from each fault of the database: packages/faults.
describe.skipIf(mongodbUri === undefined)('a server on MongoDB', () => {
  test('servers start while the database is unavailable, answer 503 in time, are ready when the database is, and again after an outage; the one without API_KEY shows the first key', async () => {
    const { serve, proxy, env } = await newDistantDatabase();
    proxy.set({ kind: 'reject' });
    const [{ origin }, waiting] = await Promise.all([
      serve({ env: { ...env, API_KEY: apiKey } }),
      serve({ env }),
    ]);
    expect(await send(origin, '/healthz')).toMatchObject({ status: 200 });
    // By then, the first attempt to create the key has failed too.
    const messages = () => logLines(waiting).map(({ msg }) => msg);
    await vi.waitFor(() => expect(messages()).toContain('the store is not ready'), within);
    for (const kind of ['reject', 'freeze'] as const) {
      proxy.set({ kind });
      await vi.waitFor(async () => expect(await send(origin, '/readyz')).toMatchObject(unavailable), within);
      for (const received of [
        await send(origin, '/v1/pets'),
        await send(origin, '/v1/pets', 'a-key-that-is-unknown'),
      ]) {
        expect(received).toMatchObject({
          status: 503,
          retryAfter: '1',
          body: { code: 'SERVICE_UNAVAILABLE' },
        });
        expect(measured(received.ms)).toBeLessThan(1_500);
      }
      proxy.set({ kind: 'none' });
      await vi.waitFor(async () => expect((await send(origin, '/readyz')).status).toBe(200), within);
      expect(await send(origin, '/v1/pets')).toMatchObject({ status: 200, body: [] });
      expect(await send(origin, '/v1/pets', 'a-key-that-is-unknown')).toMatchObject({ status: 401 });
      await vi.waitFor(() => expect(new Set(keysIn(waiting.stderr())).size).toBe(1), within);
    }
    const [key] = keysIn(waiting.stderr());
    expect(await send(origin, '/v1/pets', key)).toMatchObject({ status: 200 });
    proxy.set({ kind: 'reject' });
    expect(await waiting.stop()).toEqual({ code: 0, signal: null });
  });

  test('a call with a key lookup answers within MONGODB_TIMEOUT_MS', async () => {
    const { serve, proxy, env } = await newDistantDatabase();
    const server = await serve({ env: { ...env, MONGODB_TIMEOUT_MS: '3000' } });
    await ready(server);
    await vi.waitFor(() => expect(keysIn(server.stderr())).not.toHaveLength(0), within);
    const [key] = keysIn(server.stderr());
    // The lookup is slow, and the call itself gets no response.
    proxy.set({ kind: 'delay', ms: 900 });
    const call = send(server.origin, '/v1/pets', key);
    await sleep(1200);
    proxy.set({ kind: 'freeze' });
    const { ms, status } = await call;
    expect(status).toBe(503);
    expect(ms).toBeGreaterThan(1200);
    expect(measured(ms)).toBeLessThan(3500);
  });
});
