import { animals, type Store } from '@petstore/core';
import type { RequestRecord } from 'trpc-gateway';
import { openMetrics } from 'trpc-gateway-runtime/metrics';
import { createStoreMetrics } from '../src/storeMetrics.ts';

// Measures the cost of the metrics per request: of `onResponse` (goal: 1 µs), and of measuring a synchronous and an
// asynchronous store operation.
const rounds = 7;
const times = 1_000_000;
const goalNs = 1000;

const { onResponse } = openMetrics();

const requestRecord = (operation: string, status: number, durationMs: number): RequestRecord => ({
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
  requestRecord('listPets', 200, 0.08),
  requestRecord('createPet', 201, 1.7),
  requestRecord('getPet', 404, 0.05),
  requestRecord('listPets', 200, 31),
];

const unexpectedCall = () => {
  throw new Error('It is not called here.');
};
const records = {
  create: unexpectedCall,
  createOnce: unexpectedCall,
  get: () => undefined,
  list: async () => ({ records: [], hasNext: false }),
  update: unexpectedCall,
  delete: unexpectedCall,
};
const unmeasuredStore: Store = {
  collection: () => records,
  keys: {
    find: unexpectedCall,
    add: unexpectedCall,
    addFirst: unexpectedCall,
    list: unexpectedCall,
    revoke: unexpectedCall,
    touch: unexpectedCall,
  },
  ready: unexpectedCall,
  close: unexpectedCall,
};
const measuredStore = createStoreMetrics().wrapStore(unmeasuredStore);

/** Returns the fastest round in nanoseconds per call: other load on the machine can only add time. */
async function fastestRoundNs(work: (times: number) => unknown): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await work(times);
    least = Math.min(least, ((performance.now() - start) * 1e6) / times);
  }
  return least;
}

const printDuration = (what: string, ns: number, goal = '') =>
  process.stdout.write(`${what}: ${ns.toFixed(0)} ns${goal}\n`);

const onResponseNs = await fastestRoundNs((count) => {
  for (let at = 0; at < count; at += 1) onResponse(requestRecords[at & 3] ?? requestRecord('', 200, 1));
});
printDuration(
  'onResponse',
  onResponseNs,
  `; goal ≤ ${goalNs} ns: ${onResponseNs <= goalNs ? 'met' : 'MISSED'}`,
);

const get = (store: Store) => (count: number) => {
  for (let at = 0; at < count; at += 1) void store.collection(animals).get(at);
};
printDuration(
  'a store operation that answers at once, more',
  (await fastestRoundNs(get(measuredStore))) - (await fastestRoundNs(get(unmeasuredStore))),
);

const list = (store: Store) => async (count: number) => {
  for (let at = 0; at < count; at += 1) await store.collection(animals).list({ limit: 20 });
};
printDuration(
  'one that answers later, more',
  (await fastestRoundNs(list(measuredStore))) - (await fastestRoundNs(list(unmeasuredStore))),
);
