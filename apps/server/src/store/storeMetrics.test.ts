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

test('each operation of a collection and of the keys is measured under its name, and returns its result', async () => {
  const metrics = createStoreMetrics();
  const wrapped = metrics.wrapStore(store);
  const [records, keys] = [wrapped.collection(animals), wrapped.keys];
  // The arguments do not matter to this store.
  const calls = [...Object.values(records), ...Object.values(keys)] as (() => unknown)[];
  expect(calls.map((call) => call())).toEqual(calls.map(() => undefined));
  const [durations] = await metrics.families(store, 0);
  const counts = (durations?.values ?? []).filter(({ metricName }) => metricName?.endsWith('_count'));
  expect(counts.map(({ labels, value }) => [labels['collection'], labels['operation'], value])).toEqual([
    ...Object.keys(records).map((name) => ['animals', name, 1]),
    ...Object.keys(keys).map((name) => [undefined, `keys.${name}`, 1]),
  ]);
});

test('the readiness of several processes is that of the worst one, and their remembered keys are summed', async () => {
  const families = await createStoreMetrics().families(store, 3);
  const aggregators = families.map(({ name, aggregator }) => [name, aggregator]);
  expect(aggregators).toContainEqual(['petstore_store_ready', 'min']);
  expect(aggregators).toContainEqual(['petstore_remembered_keys', 'sum']);
});
