import { callHeaders, safeRetryLink } from 'trpc-gateway/client';
import { startFaultyFront } from '@petstore/testing/faultyFront';
import type { AppRouter } from '@petstore/types';
import { createTRPCClient, httpLink } from '@trpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { startServerInProcess } from '../testing/startServerInProcess.ts';

test('safeRetryLink creates a pet once although the responses to its first two requests are lost', async () => {
  const { origin } = await startServerInProcess();
  const front = await startFaultyFront((path, init) => fetch(origin + path, init));
  onTestFinished(() => front.close());
  front.faults.push('drop', 'cut');
  const client = createTRPCClient<AppRouter>({
    links: [
      safeRetryLink({ keyedMutations: ['createPet'] }),
      httpLink({
        url: `${front.origin}/trpc`,
        headers: (request) => ({ authorization: `Bearer ${apiKey}`, ...callHeaders(request) }),
      }),
    ],
  });
  const created = await client.createPet.mutate({ name: 'Rex', categoryId: 1 });
  expect(front.requests).toHaveLength(3);
  expect(await client.listPets.query()).toEqual([created]);
});
