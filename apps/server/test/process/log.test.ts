import { appRouter } from '@petstore/core';
import { expect, test } from 'vitest';
import { logLines } from '../testing/petStoreProcess.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';

test('the log has a line of the start with its procedures and whether it created the store', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey } });
  expect(logLines(server).find(({ msg }) => msg === 'listening')).toMatchObject({
    created: true,
    procedures: { compiled: Object.keys(appRouter._def.procedures).length, trpc: 0 },
  });
});
