import { type Animal, collections } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/embedded-store';

const statuses = ['available', 'pending', 'sold', undefined] as const;

/** Returns animals with every status and none, and with names that test the encoding. */
export function someAnimals(count: number, from = 1): Animal[] {
  return Array.from({ length: count }, (_, index) => {
    const id = from + index;
    const status = statuses[id % statuses.length];
    const animal = { id, name: `animal ${id} \u0000 🐕`, categoryId: -id };
    return status === undefined ? animal : { ...animal, status };
  });
}

/** Fills a new data folder with animals and a key named `first`, whose hash is given. */
export async function newStock(dataDir: string, animals: number, hash: string): Promise<void> {
  const store = await openEmbeddedStore({ dataDir, create: true, collections });
  const [stored] = store.transfer().collections;
  await stored?.raiseLastId(animals + 100);
  await store.keys.add({ hash, name: 'first', createdAt: 1 });
  for (let from = 1; from <= animals; from += 10_000) {
    await stored?.put(someAnimals(Math.min(10_000, animals - from + 1), from));
  }
  await store.close();
}
