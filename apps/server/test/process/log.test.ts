import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { appRouter } from '@petstore/core';
import { describe, expect, test } from 'vitest';
import { logLines, type RunningServer } from '../testing/petStoreProcess.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { unprivilegedUser, canRunUnprivileged } from '../testing/unprivilegedUser.ts';

test('the log has a line of the start with its procedures and whether it created the store', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey } });
  expect(logLines(server).find(({ msg }) => msg === 'listening')).toMatchObject({
    created: true,
    procedures: { compiled: Object.keys(appRouter._def.procedures).length, trpc: 0 },
  });
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
