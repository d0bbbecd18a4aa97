import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { logLines, type RunningServer } from './testing/petStoreProcess.ts';
import { apiKey, newFolder } from './testing/newFolder.ts';
import { nobody, nobodyCanRun } from './testing/nobody.ts';

const authorization = `Bearer ${apiKey}`;
const requests = (server: RunningServer) =>
  logLines(server).filter(({ requestId }) => requestId !== undefined);

/** One good call, and one that finds nothing; then the server ends, so that its log is whole. */
async function twoCalls({ origin, stop }: RunningServer): Promise<Response> {
  await fetch(`${origin}/v1/pets`, { headers: { authorization } });
  const missing = await fetch(`${origin}/v1/pets/7?secret=of-the-query`, { headers: { authorization } });
  await stop();
  return missing;
}

describe('LOG_REQUESTS', () => {
  test('errors, the default: a line for the first of each status that is not 2xx, with the X-Request-Id of the answer', async () => {
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

  test('all: a line for every request', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, LOG_REQUESTS: 'all' } });
    await twoCalls(server);
    expect(requests(server).map(({ status }) => status)).toEqual([200, 404]);
  });

  test('none: no line', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, LOG_REQUESTS: 'none' } });
    await twoCalls(server);
    expect(requests(server)).toEqual([]);
  });
});

test('the log line of a start counts the procedures by how they are executed', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey } });
  expect(logLines(server).find(({ msg }) => msg === 'listening')).toMatchObject({
    procedures: { compiled: 3, trpc: 0 },
  });
});

describe.skipIf(process.getuid?.() !== 0 || !nobodyCanRun)('a start logs a warning', () => {
  const warnings = (server: RunningServer) => logLines(server).filter(({ level }) => level === 40);

  test.each([{}, { WORKERS: '2' }])('once when it runs as root (%j)', async (env) => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, ...env } });
    await server.stop();
    expect(warnings(server)).toMatchObject([{ msg: expect.stringMatching(/^running as root: /) }]);
  });

  test('never when it runs as another user', async () => {
    const { serve, dataDir } = await newFolder();
    await chmod(dirname(dataDir), 0o777);
    const server = await serve({ env: { API_KEY: apiKey }, ...nobody });
    await server.stop();
    expect(warnings(server)).toEqual([]);
  });
});

test('no key, header or query reaches the log, at its most talkative', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey, LOG_REQUESTS: 'all', LOG_LEVEL: 'trace' } });
  const wrong = 'psk_a-key-that-nobody-was-given-0123456789abcdef';
  await fetch(`${server.origin}/v1/pets`, { headers: { authorization: `Bearer ${wrong}` } });
  await fetch(`${server.origin}/trpc/listPets?input=%7B%22limit%22%3A3%7D`, { headers: { authorization } });
  await fetch(`${server.origin}/trpc/no`, { headers: { authorization, cookie: 'session=in-a-cookie' } });
  await twoCalls(server);
  expect(requests(server)).toHaveLength(5);
  for (const secret of [apiKey, wrong, 'of-the-query', 'limit', 'in-a-cookie', 'Bearer', 'authorization']) {
    expect(server.stdout()).not.toContain(secret);
  }
});
