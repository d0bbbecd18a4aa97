import { type Animal, collections } from '@petstore/core';
import { openEmbeddedTransfer } from '@petstore/embedded-store';

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
  const transfer = await openEmbeddedTransfer({ dataDir, create: true, collections });
  await transfer.collections[0]?.raiseLastId(animals + 100);
  await transfer.putKeys([{ hash, name: 'first', createdAt: 1 }]);
  for (let from = 1; from <= animals; from += 10_000) {
    await transfer.collections[0]?.put(someAnimals(Math.min(10_000, animals - from + 1), from));
  }
  await transfer.close();
}
