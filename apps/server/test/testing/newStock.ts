import { collections } from '@petstore/core';
import { openEmbeddedTransfer } from '@petstore/embedded-store';
import { someAnimals } from './someAnimals.ts';

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
