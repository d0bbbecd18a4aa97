import { setTimeout as sleep } from 'node:timers/promises';
import { mongodbUri, startFaultProxy } from '@petstore/testing/mongodb';
import { measured } from '@petstore/testing/slowness';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newDatabase } from '../testing/newDatabase.ts';
import { apiKey } from '../testing/newFolder.ts';
import { logLines, ready } from '../testing/petStoreProcess.ts';

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

// That servers lose nothing and recover from each fault of the database: ../process/storeFaults.test.ts.
describe.skipIf(mongodbUri === undefined)('a server on MongoDB', () => {
  test('a server starts while the database is unavailable, answers 503 in time, is ready when the database is, and again after an outage', async () => {
    const { serve, proxy, env } = await newDistantDatabase();
    proxy.set({ kind: 'reject' });
    const { origin } = await serve({ env: { ...env, API_KEY: apiKey } });
    expect(await send(origin, '/healthz')).toMatchObject({ status: 200 });
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
    }
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

  test('exactly one of four processes that wait for the database creates the first key, and they stop gracefully without it', async () => {
    const { serve, command, proxy, env } = await newDistantDatabase();
    proxy.set({ kind: 'reject' });
    const options = { env: { ...env, MONGODB_TIMEOUT_MS: '5000' } };
    const servers = await Promise.all(Array.from({ length: 4 }, () => serve(options)));
    await sleep(1_500);
    expect(servers.flatMap(({ stderr }) => stderr())).toEqual(['', '', '', '']);
    proxy.set({ kind: 'none' });
    await Promise.all(servers.map((server) => ready(server)));
    await sleep(2_500);
    const shown = servers.flatMap(({ stderr }) => [...new Set(keysIn(stderr()))]);
    expect(shown).toHaveLength(1);
    for (const { origin } of servers) {
      expect(await send(origin, '/v1/pets', shown[0])).toMatchObject({ status: 200 });
    }
    expect((await command(['keys', 'list'])).stdout.match(/^first /gm)).toHaveLength(1);
    proxy.set({ kind: 'reject' });
    const since = performance.now();
    for (const exit of await Promise.all(servers.map(({ stop }) => stop())))
      expect(exit).toEqual({ code: 0, signal: null });
    expect(measured(performance.now() - since)).toBeLessThan(4_000);
  });
});

describe.skipIf(mongodbUri === undefined)('credentials in MONGODB_URI', () => {
  const secret = 'hunter2-of-the-database';

  test.for(['unavailable', 'rejecting them'])(
    'credentials in MONGODB_URI are in no log line, error or response while the database is %s',
    async (state) => {
      const { serve, command, proxy, env } = await newDistantDatabase();
      if (state === 'unavailable') proxy.set({ kind: 'reject' });
      const MONGODB_URI = proxy.uri.replace('mongodb://', `mongodb://anna:${secret}@`);
      const keys = await command(['keys', 'list'], { env: { ...env, MONGODB_URI } });
      expect(keys).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^[^\n]+\.\n$/) });

      const server = await serve({
        env: { ...env, MONGODB_URI, LOG_LEVEL: 'trace', LOG_REQUESTS: 'all', API_KEY: apiKey },
      });
      await vi.waitFor(
        () => expect(logLines(server).map(({ msg }) => msg)).toContain('the store is not ready'),
        within,
      );
      const paths = ['/readyz', '/v1/pets', '/v1/pets/1', '/trpc/listPets'];
      const responses = await Promise.all(paths.map((path) => send(server.origin, path)));
      expect(responses.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
      expect(await server.stop()).toEqual({ code: 0, signal: null });
      const shown = [server.stdout(), server.stderr(), keys.stderr, JSON.stringify(responses)].join('\n');
      expect(shown).not.toMatch(/hunter2|anna/);
    },
  );

  // All forms of an invalid URI: packages/core/src/store/mongodb/open.test.ts.
  test('credentials in an invalid MONGODB_URI are not printed', async () => {
    const { command } = await newDatabase();
    const env = { MONGODB_URI: `mongodb://anna:${secret}%@host`, API_KEY: apiKey };
    const ended = await command([], { env });
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^[^\n]+\.\n$/) });
    expect(ended.stderr).not.toMatch(/hunter2|anna/);
  });
});
