import { openEmbeddedStore } from '@petstore/embedded-store';
import { collections, type Animal, animals, type Page } from '@petstore/core';

/** Returns the names of all animals in a data folder, with the number of animals of each name. */
export async function namesIn(dataDir: string): Promise<Map<string, number>> {
  const store = await openEmbeddedStore({ dataDir, create: false, collections });
  const names = new Map<string, number>();
  for (let cursor: number | undefined = 0; cursor !== undefined;) {
    const page: Page<Animal> = await store.collection(animals).list({ limit: 100, cursor });
    for (const { name } of page.records) names.set(name, (names.get(name) ?? 0) + 1);
    cursor = page.hasNext ? page.records.at(-1)?.id : undefined;
  }
  await store.close();
  return names;
}
