import { animals, type Store } from '@petstore/core';
import type { RequestRecord } from '@petstore/gateway';
import { openMetrics } from '@petstore/runtime/metrics';
import { createStoreMetrics } from '../src/storeMetrics.ts';

// What the metrics cost a request: of `onResponse`, and of the timing of a store operation that answers at once, and of
// one that answers later. The goal of the first is 1 µs.
const rounds = 7;
const times = 1_000_000;
const goalNs = 1000;

const { onResponse } = openMetrics();

const record = (operation: string, status: number, durationMs: number): RequestRecord => ({
  requestId: 'an-id',
  method: 'GET',
  path: '/v1/pets',
  protocol: 'rest',
  operation,
  procedures: [operation],
  calls: 1,
  status,
  isStream: false,
  durationMs,
  bytesIn: 0,
  bytesOut: 512,
  limit: undefined,
  error: undefined,
});
const requestRecords = [
  record('listPets', 200, 0.08),
  record('createPet', 201, 1.7),
  record('getPet', 404, 0.05),
  record('listPets', 200, 31),
];

const unused = () => {
  throw new Error('It is not called here.');
};
const records = {
  create: unused,
  createOnce: unused,
  get: () => undefined,
  list: async () => ({ records: [], hasNext: false }),
  update: unused,
  delete: unused,
};
const plain: Store = {
  collection: () => records,
  keys: { find: unused, add: unused, addFirst: unused, list: unused, revoke: unused, touch: unused },
  ready: unused,
  close: unused,
};
const timed = createStoreMetrics().wrapStore(plain);

/** The least of some rounds, in nanoseconds a time: what a machine does besides only adds. */
async function measure(work: (times: number) => unknown): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await work(times);
    least = Math.min(least, ((performance.now() - start) * 1e6) / times);
  }
  return least;
}

const print = (what: string, ns: number, goal = '') =>
  process.stdout.write(`${what}: ${ns.toFixed(0)} ns${goal}\n`);

const onResponseNs = await measure((count) => {
  for (let at = 0; at < count; at += 1) onResponse(requestRecords[at & 3] ?? record('', 200, 1));
});
print('onResponse', onResponseNs, `; goal ≤ ${goalNs} ns: ${onResponseNs <= goalNs ? 'met' : 'MISSED'}`);

const get = (store: Store) => (count: number) => {
  for (let at = 0; at < count; at += 1) void store.collection(animals).get(at);
};
print(
  'a store operation that answers at once, more',
  (await measure(get(timed))) - (await measure(get(plain))),
);

const list = (store: Store) => async (count: number) => {
  for (let at = 0; at < count; at += 1) await store.collection(animals).list({ limit: 20 });
};
print('one that answers later, more', (await measure(list(timed))) - (await measure(list(plain))));
