import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { appRouter } from '@petstore/core';
import { describe, expect, test } from 'vitest';
import { logLines, type RunningServer } from './testing/petStoreProcess.ts';
import { apiKey, newFolder } from './testing/newFolder.ts';
import { unprivilegedUser, canRunUnprivileged } from './testing/unprivilegedUser.ts';

const authorization = `Bearer ${apiKey}`;
const requests = (server: RunningServer) =>
  logLines(server).filter(({ requestId }) => requestId !== undefined);

/** Makes a call with status 200 and one with 404, and stops the server, so that its log is complete. */
async function twoCalls({ origin, stop }: RunningServer): Promise<Response> {
  await fetch(`${origin}/v1/pets`, { headers: { authorization } });
  const missing = await fetch(`${origin}/v1/pets/7?secret=of-the-query`, { headers: { authorization } });
  await stop();
  return missing;
}

describe('LOG_REQUESTS', () => {
  test('LOG_REQUESTS=errors, the default, logs the first request of each status other than 2xx, with the X-Request-Id of its response', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey } });
    const missing = await twoCalls(server);
    expect(requests(server)).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        pid: expect.any(Number),
        hostname: expect.any(String),
        requestId: missing.headers.get('x-request-id'),
        method: 'GET',
        path: '/v1/pets/7',
        protocol: 'rest',
        operation: 'getPet',
        status: 404,
        durationMs: expect.any(Number),
        msg: 'request',
      },
    ]);
  });

  test('LOG_REQUESTS=all logs every request', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, LOG_REQUESTS: 'all' } });
    await twoCalls(server);
    expect(requests(server).map(({ status }) => status)).toEqual([200, 404]);
  });

  test('LOG_REQUESTS=none logs no request', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, LOG_REQUESTS: 'none' } });
    await twoCalls(server);
    expect(requests(server)).toEqual([]);
  });
});

test('the log line of a start has the number of procedures by execution path', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey } });
  expect(logLines(server).find(({ msg }) => msg === 'listening')).toMatchObject({
    procedures: { compiled: Object.keys(appRouter._def.procedures).length, trpc: 0 },
  });
});

describe.skipIf(process.getuid?.() !== 0 || !canRunUnprivileged)('the warning about root', () => {
  const warnings = (server: RunningServer) => logLines(server).filter(({ level }) => level === 40);

  test.each([{}, { WORKERS: '2' }])('a start as root logs one warning (%j)', async (env) => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, ...env } });
    await server.stop();
    expect(warnings(server)).toMatchObject([{ msg: expect.stringMatching(/^running as root: /) }]);
  });

  test('a start as another user logs no warning', async () => {
    const { serve, dataDir } = await newFolder();
    await chmod(dirname(dataDir), 0o777);
    const server = await serve({ env: { API_KEY: apiKey }, ...unprivilegedUser });
    await server.stop();
    expect(warnings(server)).toEqual([]);
  });
});

test('no key, header or query reaches the log at level trace', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey, LOG_REQUESTS: 'all', LOG_LEVEL: 'trace' } });
  const wrong = 'psk_a-key-that-was-never-issued-0123456789abcdef';
  await fetch(`${server.origin}/v1/pets`, { headers: { authorization: `Bearer ${wrong}` } });
  await fetch(`${server.origin}/trpc/listPets?input=%7B%22limit%22%3A3%7D`, { headers: { authorization } });
  await fetch(`${server.origin}/trpc/no`, { headers: { authorization, cookie: 'session=in-a-cookie' } });
  await twoCalls(server);
  expect(requests(server)).toHaveLength(5);
  for (const secret of [apiKey, wrong, 'of-the-query', 'limit', 'in-a-cookie', 'Bearer', 'authorization']) {
    expect(server.stdout()).not.toContain(secret);
  }
});
