import { openEmbeddedStore } from '@petstore/core/store/embedded';

/** The names of all animals in a data folder, and how often each is there. */
export async function namesIn(dataDir: string): Promise<Map<string, number>> {
  const store = await openEmbeddedStore({ dataDir, create: false });
  const names = new Map<string, number>();
  for (let cursor: number | undefined = 0; cursor !== undefined;) {
    const { animals, hasNext } = await store.list({ limit: 100, cursor });
    for (const { name } of animals) names.set(name, (names.get(name) ?? 0) + 1);
    cursor = hasNext ? animals.at(-1)?.id : undefined;
  }
  await store.close();
  return names;
}
