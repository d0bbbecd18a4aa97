/*
 * Measures the time of a page for growing numbers of animals on the server of MONGODB_URI, and prints the query plans.
 * `npm run bench:lists -w @petstore/core -- [counts …]`. Servers other than MongoDB have other plans.
 */
import { countArgument } from '@petstore/testing/countArgument';
import { testDatabase } from '@petstore/testing/mongodb';
import { animals, type Animal } from '../../../procedures/animals.ts';
import type { ListQuery } from '../../store.ts';
import { openMongodbStore, openMongodbTransfer } from '../index.ts';
import { explainList } from './explainList.ts';
import { collections } from '../../../collections.ts';

const CALLS = 200;
const BATCH = 5000;

const counts = process.argv.slice(2).map((count) => countArgument('count', count, 10_000));
const database = testDatabase();
const transfer = await openMongodbTransfer({ ...database, collections });
const store = await openMongodbStore({ ...database, collections });

/** Returns an animal. One in ten thousand is pending; every second one of the others has no status. */
function animalOf(id: number): Animal {
  const animal = { id, name: `animal ${id}`, categoryId: 1 };
  if (id % 10_000 === 0) return { ...animal, status: 'pending' };
  return id % 2 === 0 ? animal : { ...animal, status: 'available' };
}

async function fill(from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += BATCH) {
    const length = Math.min(BATCH, to - first);
    await transfer.collections[0]?.put(Array.from({ length }, (_, index) => animalOf(first + index + 1)));
  }
}

/** Returns the median duration of many calls, in milliseconds. */
async function time(query: (index: number) => ListQuery<Animal, 'status'>): Promise<string> {
  const times: number[] = [];
  const until = performance.now() + 10_000;
  for (let index = 0; index < CALLS && performance.now() < until; index++) {
    const start = performance.now();
    await store.collection(animals).list(query(index));
    times.push(performance.now() - start);
  }
  return (times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0).toFixed(2);
}

process.stdout.write('animals\tfirst page\tanywhere\tavailable\tpending (rare)\n');
let filled = 0;
for (const count of counts.length > 0 ? counts : [10_000, 100_000, 1_000_000]) {
  await fill(filled, count);
  filled = count;
  const anywhere = () => Math.floor(Math.random() * count);
  const row = [
    count,
    await time(() => ({ limit: 20 })),
    await time(() => ({ limit: 20, cursor: anywhere() })),
    await time(() => ({ limit: 20, cursor: anywhere(), where: { status: 'available' } })),
    await time(() => ({ limit: 20, cursor: anywhere(), where: { status: 'pending' } })),
  ];
  process.stdout.write(`${row.join('\t')}\n`);
}
for (const status of [undefined, 'available', 'pending'] as const) {
  const { plan } = await explainList(database, { limit: 20, cursor: filled >> 1, where: { status } });
  const indexUses = JSON.stringify(plan).match(
    /"(Node Type|stage|Index Name|indexName|Index Cond|Filter)":"[^"]*"/g,
  );
  process.stdout.write(`${status ?? 'any status'}: ${[...new Set(indexUses)].join(' ')}\n`);
}
await store.close();
await transfer.close();
await database.drop();
