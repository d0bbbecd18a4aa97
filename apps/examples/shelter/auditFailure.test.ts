import { expect, onTestFinished, test, vi } from 'vitest';
import { newShelter } from './testing/newShelter.ts';

let isFull = false;

vi.mock(import('@petstore/embedded-store'), async (original) => {
  const module = await original();
  const openEmbeddedStore: typeof module.openEmbeddedStore = async (options) => {
    const store = await module.openEmbeddedStore(options);
    return {
      ...store,
      collection(definition) {
        const collection = store.collection(definition);
        if (definition.name !== 'audits' || !isFull) return collection;
        return { ...collection, create: () => Promise.reject(new Error('no space left in /var/secret')) };
      },
    };
  };
  return { ...module, openEmbeddedStore };
});

test('a change whose audit cannot be stored is answered with 500, and its repeat with the same key is audited', async () => {
  const shelter = await newShelter('embedded');
  onTestFinished(() => shelter.close());
  const create = () => shelter.rest('POST', '/categories', { name: 'Dogs' }, { 'idempotency-key': 'once' });
  isFull = true;
  const failed = await create();
  expect([failed.status, JSON.stringify(failed.body)]).toEqual([500, expect.not.stringContaining('secret')]);
  isFull = false;
  const repeat = await create();
  expect(repeat).toMatchObject({ status: 201, isReplayed: true });
  expect(await shelter.client.listAudits.query({})).toMatchObject([
    { user: 'ada', outcome: 'OK', isReplay: true },
  ]);
});
