import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { appRouter } from '@petstore/core';
import { describe, expect, test } from 'vitest';
import { logLines, type RunningServer } from '../testing/petStoreProcess.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { unprivilegedUser, canRunUnprivileged } from '../testing/unprivilegedUser.ts';
import { listPets } from '../testing/petCalls.ts';

const requests = (server: RunningServer) =>
  logLines(server).filter(({ requestId }) => requestId !== undefined);

test('the log has a line of the start with its procedures and whether it created the store', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey } });
  expect(logLines(server).find(({ msg }) => msg === 'listening')).toMatchObject({
    created: true,
    procedures: { compiled: Object.keys(appRouter._def.procedures).length, trpc: 0 },
  });
});

test('LOG_REQUESTS=errors, the default, logs the first request of each status other than 2xx, with the X-Request-Id of its response', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey } });
  const headers = { authorization: `Bearer ${apiKey}` };
  await listPets(server.origin);
  const missing = await fetch(`${server.origin}/v1/pets/7`, { headers });
  await server.stop();
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
      codes: ['NOT_FOUND'],
      durationMs: expect.any(Number),
      msg: 'request',
    },
  ]);
});

describe.skipIf(process.getuid?.() !== 0 || !canRunUnprivileged)('the warning about root', () => {
  const warnings = (server: RunningServer) => logLines(server).filter(({ level }) => level === 40);

  test('a start as root with WORKERS=2 logs one warning', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, WORKERS: '2' } });
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
