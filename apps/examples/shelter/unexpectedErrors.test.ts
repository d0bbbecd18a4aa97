import { expect, onTestFinished, test, vi } from 'vitest';
import { newShelter } from './testing/newShelter.ts';

vi.mock(import('@petstore/embedded-store'), async (original) => {
  const module = await original();
  const collection = () => {
    throw new Error('connect ECONNREFUSED mongodb://admin:secret@10.0.0.1');
  };
  const openEmbeddedStore: typeof module.openEmbeddedStore = async (options) => ({
    ...(await module.openEmbeddedStore(options)),
    collection,
  });
  return { ...module, openEmbeddedStore };
});

test('the message of an unexpected error is not sent to clients of the shelter, over tRPC and REST', async () => {
  const shelter = await newShelter('embedded');
  onTestFinished(() => shelter.close());
  await expect(shelter.client.getAnimal.query({ animalId: 1 })).rejects.toThrow(/^Internal server error$/);
  const { status, body } = await shelter.rest('GET', '/animals/1');
  expect([status, JSON.stringify(body)]).toEqual([500, expect.not.stringContaining('secret')]);
});
