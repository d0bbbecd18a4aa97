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
  // The generator shares the cores with other tests, which may keep it from asking for too much: then it tries again.
  test('rejects what exceeds its maximum, and serves the rest', { retry: 3 }, async () => {
    const { faults } = await loadLevels(startPetStoreUnderLoad, briefLevels);
    expect(faults).toEqual([]);
  });

  test('serves other clients during floods of pipelined requests, of one-byte chunks and of endless bodies', async () => {
    const { faults } = await measureFloods(startPetStoreUnderLoad, briefFloods);
    expect(faults).toEqual([]);
  });

  test('serves other clients while connections are held, and while clients are slow or silent', async () => {
    const { faults } = await holdConnections(startPetStoreUnderLoad, briefHeld);
    expect(faults).toEqual([]);
  });
});
