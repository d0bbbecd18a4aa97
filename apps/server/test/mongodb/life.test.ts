import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { mongodbUri, startFaultProxy } from '@petstore/testing/mongodb';
import { measured } from '@petstore/testing/slowness';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { commandMissing } from '@petstore/testing/commandMissing';
import { newDatabase } from '../testing/newDatabase.ts';
import { apiKey } from '../testing/newFolder.ts';
import { logLines, ready } from '../testing/petStoreProcess.ts';
import { createPet } from '../testing/petCalls.ts';

const execute = promisify(execFile);

/** A short timeout for tests with an unavailable database. */
const limits = { MONGODB_TIMEOUT_MS: '1000' };

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

const create = (origin: string, name: string) => createPet(origin, { name, categoryId: 1 });

const keysIn = (text: string) => text.match(/psk_[\w-]{43}/g) ?? [];

/** Creates a database behind a proxy that can make it unavailable. */
async function newDistantDatabase() {
  const database = await newDatabase();
  const proxy = await startFaultProxy(database.uri);
  onTestFinished(() => proxy.close());
  return { ...database, proxy, env: { ...limits, MONGODB_URI: proxy.uri } };
}

const unavailable = { status: 503, retryAfter: '1', body: { status: 'unavailable', reason: 'unavailable' } };
const within = { interval: 50 };

describe.skipIf(mongodbUri === undefined)('a server on MongoDB', () => {
  test('a server starts while the database is unavailable, answers 503, and is ready when the database is', async () => {
    const { serve, proxy, env } = await newDistantDatabase();
    proxy.set({ kind: 'reject' });
    const server = await serve({ env: { ...env, API_KEY: apiKey } });
    const { origin } = server;
    expect(await send(origin, '/healthz')).toMatchObject({ status: 200 });
    expect(await send(origin, '/readyz')).toMatchObject(unavailable);

    for (const received of [
      await send(origin, '/v1/pets'),
      await send(origin, '/v1/pets/1'),
      await send(origin, '/v1/pets', 'a-key-that-is-unknown'),
    ]) {
      expect(received).toMatchObject({ status: 503, retryAfter: '1', body: { code: 'SERVICE_UNAVAILABLE' } });
      expect(measured(received.ms)).toBeLessThan(1_500);
    }

    proxy.set({ kind: 'none' });
    await vi.waitFor(
      async () => expect(await send(origin, '/readyz')).toMatchObject({ status: 200 }),
      within,
    );
    expect(await send(origin, '/v1/pets')).toMatchObject({ status: 200, body: [] });
    expect(await send(origin, '/v1/pets', 'a-key-that-is-unknown')).toMatchObject({ status: 401 });
  });

  test('a server recovers from an outage of the database without a restart', async () => {
    const { serve, proxy, env } = await newDistantDatabase();
    const server = await serve({ env: { ...env, API_KEY: apiKey } });
    const { origin } = server;
    await ready(server);
    expect((await create(origin, 'Rex')).status).toBe(201);
    for (const kind of ['reject', 'freeze'] as const) {
      proxy.set({ kind });
      const response = await send(origin, '/v1/pets');
      expect(response).toMatchObject({ status: 503, retryAfter: '1' });
      expect(measured(response.ms)).toBeLessThan(1_500);
      await vi.waitFor(async () => expect(await send(origin, '/readyz')).toMatchObject(unavailable), within);
      proxy.set({ kind: 'none' });
      await vi.waitFor(
        async () =>
          expect(await send(origin, '/v1/pets')).toMatchObject({ status: 200, body: [{ name: 'Rex' }] }),
        within,
      );
      await vi.waitFor(
        async () => expect(await send(origin, '/readyz')).toMatchObject({ status: 200 }),
        within,
      );
    }
  });

  test('a call with a key lookup answers within MONGODB_TIMEOUT_MS', async () => {
    const { serve, proxy, env } = await newDistantDatabase();
    const server = await serve({ env: { ...env, MONGODB_TIMEOUT_MS: '3000' } });
    await ready(server);
    const [key] = await vi.waitFor(() => {
      const keys = keysIn(server.stderr());
      expect(keys).not.toHaveLength(0);
      return keys;
    }, within);
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

  test('a create with an unknown outcome is answered with 504', async () => {
    const { serve, proxy, env } = await newDistantDatabase();
    const server = await serve({ env: { ...env, API_KEY: apiKey } });
    await ready(server);
    await create(server.origin, 'Rex');
    proxy.set({ kind: 'cutResponses', percent: 100, only: 'insert' });
    const response = await create(server.origin, 'Max');
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({
      code: 'GATEWAY_TIMEOUT',
      message: expect.stringContaining('unknown'),
    });
  });

  test('a server stops gracefully while the database is unavailable', async () => {
    const { serve, proxy, env } = await newDistantDatabase();
    proxy.set({ kind: 'reject' });
    const { stop, stderr } = await serve({ env });
    const since = performance.now();
    expect(await stop()).toEqual({ code: 0, signal: null });
    expect(measured(performance.now() - since)).toBeLessThan(4_000);
    expect(stderr()).toBe('');
  });
});

describe.skipIf(mongodbUri === undefined)('the first key on MongoDB', () => {
  test.skipIf(commandMissing('curl'))(
    'the first key is printed once the database is reached, with a curl command that works when pasted',
    async () => {
      const { serve, proxy, env } = await newDistantDatabase();
      proxy.set({ kind: 'reject' });
      const { stderr, stdout } = await serve({ env: { ...env, LOG_LEVEL: 'trace', LOG_REQUESTS: 'all' } });
      await sleep(1_500);
      expect(stderr()).toBe('');
      proxy.set({ kind: 'none' });
      await vi.waitFor(() => expect(keysIn(stderr())).toHaveLength(2), within);
      const [, line = ''] = /^(curl (?:.*\\\n)*.*)$/m.exec(stderr()) ?? [];
      expect((await execute('bash', ['-c', line])).stdout).toBe('[]');
      expect(keysIn(stdout())).toEqual([]);
    },
  );

  test('exactly one of four processes that wait for the database creates the first key', async () => {
    const { serve, command, proxy, env } = await newDistantDatabase();
    proxy.set({ kind: 'reject' });
    const servers = await Promise.all(Array.from({ length: 4 }, () => serve({ env })));
    proxy.set({ kind: 'none' });
    await Promise.all(servers.map((server) => ready(server)));
    await sleep(2_500);
    const shown = servers.flatMap(({ stderr }) => [...new Set(keysIn(stderr()))]);
    expect(shown).toHaveLength(1);
    for (const { origin } of servers) {
      expect(await send(origin, '/v1/pets', shown[0])).toMatchObject({ status: 200 });
    }
    expect((await command(['keys', 'list'])).stdout.match(/^first /gm)).toHaveLength(1);
  });

  test('a later start on MongoDB creates no first key', async () => {
    const { serve } = await newDatabase();
    const first = await serve();
    await vi.waitFor(() => expect(keysIn(first.stderr())).toHaveLength(2), within);
    await first.stop();
    const second = await serve();
    await ready(second);
    await sleep(500);
    expect(second.stderr()).toBe('');
  });
});

describe.skipIf(mongodbUri === undefined)('keys on MongoDB', () => {
  test('keys add, list and revoke work on MongoDB, and servers follow', async () => {
    const { serve, command } = await newDatabase();
    const server = await serve({ env: { API_KEY: apiKey } });
    await ready(server);
    const added = await command(['keys', 'add', 'ci']);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    const key = added.stdout.trim();
    await vi.waitFor(
      async () => expect(await send(server.origin, '/v1/pets', key)).toMatchObject({ status: 200 }),
      1_000,
    );
    expect(await command(['keys', 'add', 'ci'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('A key named "ci" already exists'),
    });
    expect((await command(['keys', 'list'])).stdout).toMatch(/^NAME .*\nci /);
    expect(await command(['keys', 'revoke', 'ci'])).toMatchObject({ code: 0 });
    await vi.waitFor(
      async () => expect(await send(server.origin, '/v1/pets', key)).toMatchObject({ status: 401 }),
      within,
    );
  });
});

describe.skipIf(mongodbUri === undefined)('credentials in MONGODB_URI', () => {
  const secret = 'hunter2-of-the-database';
  const withCredentials = (uri: string) => uri.replace('mongodb://', `mongodb://anna:${secret}@`);

  test.for(['unavailable', 'rejecting them'])(
    'credentials in MONGODB_URI are in no log line, error or response while the database is %s',
    async (state) => {
      const { start, command, uri, proxy, env } = await newDistantDatabase();
      if (state === 'unavailable') proxy.set({ kind: 'reject' });
      const MONGODB_URI = withCredentials(proxy.uri);
      const keys = await command(['keys', 'list'], { env: { ...env, MONGODB_URI } });
      expect(keys).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^[^\n]+\.\n$/) });

      const server = start({
        env: { ...env, MONGODB_URI, LOG_LEVEL: 'trace', LOG_REQUESTS: 'all', API_KEY: apiKey },
      });
      const origin = await vi.waitFor(() => {
        const line = logLines(server).find(({ msg }) => msg === 'listening');
        expect(line).toBeDefined();
        return String(line?.origin);
      }, within);
      await sleep(500);
      const responses = await Promise.all([
        send(origin, '/readyz'),
        send(origin, '/v1/pets'),
        send(origin, '/v1/pets/1'),
        send(origin, '/trpc/listPets'),
      ]);
      expect(responses.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
      server.child.kill('SIGTERM');
      expect(await server.exited).toEqual({ code: 0, signal: null });
      const shown = [server.stdout(), server.stderr(), keys.stderr, JSON.stringify(responses)].join('\n');
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain('anna');
      expect(uri).not.toContain(secret);
    },
  );

  test.for([
    `mongodb://anna:${secret}@`,
    `mongodb://anna:${secret}@/`,
    `mongodb://anna:${secret}@host:notaport`,
    `mongodb://anna:${secret}%@host`,
    `mongodb://anna:${secret}@host/?nosuchoption=1`,
    `mongodb+srv://anna:${secret}@host:1`,
  ])('credentials in an invalid MONGODB_URI are not printed: %s', async (MONGODB_URI) => {
    const { command } = await newDatabase();
    const ended = await command([], { env: { MONGODB_URI, API_KEY: apiKey } });
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^[^\n]+\.\n$/) });
    expect(ended.stderr).not.toContain(secret);
    expect(ended.stderr).not.toContain('anna');
  });
});
