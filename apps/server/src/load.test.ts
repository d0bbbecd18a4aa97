import {
  briefFloods,
  briefHeld,
  briefLevels,
  holdConnections,
  loadLevels,
  measureFloods,
} from '@petstore/gateway-test/load';
import { everyForm } from '@petstore/testing/forms';
import { describe, expect, test } from 'vitest';
import { startPetStoreUnderLoad } from './testing/petStoreUnderLoad.ts';

// `npm test` runs these on a gateway with a router in memory: packages/gateway/test/load.
describe.runIf(everyForm)('the process under load', { timeout: 120_000 }, () => {
  const start = () => startPetStoreUnderLoad('auto');

  // Retried: the generator shares the cores with other tests and may not reach the overload.
  test('the process rejects requests over its maximum and serves the rest', { retry: 3 }, async () => {
    const { problems } = await loadLevels(start, briefLevels);
    expect(problems).toEqual([]);
  });

  test.each(['uws', 'node'])(
    'the process with SERVER=%s serves other clients during floods of pipelined requests, one-byte chunks and endless bodies',
    async (server) => {
      const { problems } = await measureFloods(() => startPetStoreUnderLoad(server), briefFloods);
      expect(problems).toEqual([]);
    },
  );

  test('the process serves other clients while connections are held and clients are slow or silent', async () => {
    const { problems } = await holdConnections(start, briefHeld);
    expect(problems).toEqual([]);
  });
});
