import { briefFloods, measureFloods } from 'trpc-gateway-test/load';
import { everyForm, nodeServers } from '@petstore/testing/forms';
import { describe, expect, test } from 'vitest';
import { startPetStoreUnderLoad } from './testing/petStoreUnderLoad.ts';

// The other kinds of load run against a gateway with a router in memory: packages/gateway/test/load.
describe.runIf(everyForm)('the process under load', { timeout: 120_000 }, () => {
  test.each(nodeServers)(
    'the process with SERVER=%s serves other clients during floods of pipelined requests, one-byte chunks and endless bodies',
    async (server) => {
      const { problems } = await measureFloods(() => startPetStoreUnderLoad(server), briefFloods);
      expect(problems).toEqual([]);
    },
  );
});
