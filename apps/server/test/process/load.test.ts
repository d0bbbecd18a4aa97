import { briefFloods, measureFlood } from 'trpc-gateway-test/load';
import { everyForm } from '@petstore/testing/forms';
import { describe, expect, it } from 'vitest';
import { startPetStoreUnderLoad } from '../testing/petStoreUnderLoad.ts';

// Floods that reach the pet store's own store and credentials, on the adapter that the process chooses. `npm run test:floods`
// measures all of them on all adapters, and packages/gateway/test/load against a gateway with a router in memory.
describe.runIf(everyForm)('floods', () => {
  it.each([
    'pipelined GET requests without a key on 20 connections (401)',
    'pipelined POST requests with a key and an invalid body (400)',
    'pipelined lists of 1 MB on 200 connections that read nothing',
    'chunks of one byte with a key',
    'endless bodies with a key',
  ] as const)('the process serves other clients during a flood of %s', async (flood) => {
    const { problems } = await measureFlood(() => startPetStoreUnderLoad('auto'), flood, briefFloods);
    expect(problems).toEqual([]);
  });
});
