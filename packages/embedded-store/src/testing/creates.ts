/*
 * Measures durable creates per second of the embedded store and of LMDB alone, which writes the same for each create: the
 * next id, a row and an entry of the status index in a transaction. `npm run bench:creates -w @petstore/embedded-store`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { animals, collections, type NewPet } from '@petstore/core';
import { openEmbeddedStore } from '../index.ts';

const rounds = 5;
const roundMs = 1000;
const concurrencies = [1, 16, 64, 256];
const pet: NewPet = { name: 'Rex', categoryId: 1, status: 'available' };

const folder = await mkdtemp(join(tmpdir(), 'petstore-creates-'));
const store = await openEmbeddedStore({ dataDir: join(folder, 'store'), collections });
const root = open({ path: join(folder, 'alone.mdb'), maxDbs: 3 });
const rows = root.openDB<object, number>('animals', {});
const ids = root.openDB<Buffer, number>('animals.available', { encoding: 'binary' });
const meta = root.openDB<number, string>('meta', {});
const emptyValue = Buffer.alloc(0);

const contenders = {
  store: () => store.collection(animals).create(pet, {}),
  lmdb: () =>
    root.transaction(() => {
      const id = (meta.get('last') ?? 0) + 1;
      void rows.put(id, { id, ...pet });
      void ids.put(id, emptyValue);
      void meta.put('last', id);
    }),
};

/** Returns the creates per second of concurrent callers that each wait for their last create to be durable. */
async function rate(create: () => unknown, callers: number): Promise<number> {
  const until = performance.now() + roundMs;
  let done = 0;
  const call = async () => {
    while (performance.now() < until) {
      await create();
      done += 1;
    }
  };
  const since = performance.now();
  await Promise.all(Array.from({ length: callers }, call));
  return (done / (performance.now() - since)) * 1000;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

process.stdout.write('callers\tstore/s\tlmdb/s\tratio (median of rounds)\n');
for (const callers of concurrencies) {
  const measured: { readonly store: number; readonly lmdb: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // The order alternates between rounds.
    const first = round % 2 === 0 ? 'store' : 'lmdb';
    const second = first === 'store' ? 'lmdb' : 'store';
    const rates = { [first]: await rate(contenders[first], callers) };
    rates[second] = await rate(contenders[second], callers);
    measured.push({ store: rates['store'] ?? 0, lmdb: rates['lmdb'] ?? 0 });
  }
  const ratio = median(measured.map((each) => each.store / each.lmdb));
  const row = [
    callers,
    median(measured.map((each) => each.store)).toFixed(0),
    median(measured.map((each) => each.lmdb)).toFixed(0),
    ratio.toFixed(2),
  ];
  process.stdout.write(`${row.join('\t')}\n`);
}
await store.close();
await root.close();
await rm(folder, { recursive: true, force: true });
