import { briefFloods, measureFloods } from 'trpc-gateway-test/load';
import { everyForm } from '@petstore/testing/forms';
import { expect, test } from 'vitest';
import { startPetStoreUnderLoad } from './testing/petStoreUnderLoad.ts';

// On the adapter that the process chooses: `npm run test:floods` measures both, and adapters/server/floods.test.ts of the
// gateway tests both. The other kinds of load run against a gateway with a router in memory: packages/gateway/test/load.
test.runIf(everyForm)(
  'the process serves other clients during floods of pipelined requests, one-byte chunks and endless bodies',
  { timeout: 120_000 },
  async () => {
    const { problems } = await measureFloods(() => startPetStoreUnderLoad('auto'), briefFloods);
    expect(problems).toEqual([]);
  },
);
