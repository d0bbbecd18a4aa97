import { animals, type Store } from '@petstore/core';
import { expect, test } from 'vitest';
import { createStoreMetrics } from './storeMetrics.ts';

const returns = () => undefined;

/** A store whose operations return `undefined`. */
const store = {
  collection: () => new Proxy({}, { get: () => returns }),
  keys: new Proxy({}, { get: () => returns }),
  ready: returns,
  close: returns,
} as unknown as Store;

/** Returns the labels of the operations that were measured, and how often. */
async function measured(metrics: ReturnType<typeof createStoreMetrics>) {
  const [durations] = await metrics.families(store, 0);
  return (durations?.values ?? [])
    .filter(({ metricName }) => metricName?.endsWith('_count'))
    .map(({ labels, value }) => [labels['collection'], labels['operation'], value]);
}

test.each(['create', 'createOnce', 'get', 'list', 'update', 'delete'] as const)(
  'the operation %s of a collection is measured under its name, and returns its result',
  async (operation) => {
    const metrics = createStoreMetrics();
    const records = metrics.wrapStore(store).collection(animals);
    // The arguments do not matter to this store.
    expect((records[operation] as () => unknown)()).toBeUndefined();
    expect(await measured(metrics)).toEqual([['animals', operation, 1]]);
  },
);

test.each(['find', 'add', 'addFirst', 'list', 'revoke', 'touch'] as const)(
  'the operation %s of the keys is measured under its name',
  async (operation) => {
    const metrics = createStoreMetrics();
    (metrics.wrapStore(store).keys[operation] as () => unknown)();
    expect(await measured(metrics)).toEqual([[undefined, `keys.${operation}`, 1]]);
  },
);

test('the readiness of several processes is that of the worst one, and their remembered keys are summed', async () => {
  const families = await createStoreMetrics().families(store, 3);
  const aggregators = families.map(({ name, aggregator }) => [name, aggregator]);
  expect(aggregators).toContainEqual(['petstore_store_ready', 'min']);
  expect(aggregators).toContainEqual(['petstore_remembered_keys', 'sum']);
});
