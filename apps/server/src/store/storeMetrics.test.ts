import { animals, type Store, StoreError } from '@petstore/core';
import { expect, test } from 'vitest';
import { createStoreMetrics } from './storeMetrics.ts';

const returns = () => undefined;

function throwing(error: Error): never {
  throw error;
}

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

test('failed operations are counted by operation and error, whether they throw or reject', async () => {
  const metrics = createStoreMetrics();
  for (const error of [new StoreError('full', 'no space'), new TypeError('x is not a function')]) {
    const failing = { create: async () => throwing(error), get: () => throwing(error) };
    const records = metrics.wrapStore({ ...store, collection: () => failing as never }).collection(animals);
    await expect(records.create({ name: 'Rex', categoryId: 1 })).rejects.toBe(error);
    expect(() => records.get(1)).toThrow(error);
  }
  const [durations, counted] = await metrics.families(store, 0);
  const operations = ['create', 'get'].map((operation) => ({ collection: 'animals', operation }));
  expect(counted?.values).toEqual(
    operations.flatMap((labels) =>
      ['full', 'other'].map((error) => ({ labels: { ...labels, error }, value: 1 })),
    ),
  );
  const ends = (durations?.values ?? []).filter(({ metricName }) => metricName?.endsWith('_count'));
  expect(ends.filter(({ value }) => value === 2).map(({ labels }) => labels)).toEqual(operations);
});

test.each<[what: string, ready: Store['ready'], isReady: number]>([
  ['can serve', () => {}, 1],
  ['cannot', () => Promise.reject(new StoreError('unavailable', 'It is away.')), 0],
  ['does not respond', () => new Promise(() => {}), 0],
])('petstore_store_ready of a store that %s', async (_, ready, isReady) => {
  const families = await createStoreMetrics().families({ ready }, 0);
  expect(families.find(({ name }) => name === 'petstore_store_ready')?.values).toMatchObject([
    { value: isReady },
  ]);
});
