import type { Animal, Collection, KeyStore, Store } from '@petstore/core';
import { seededAnimals } from './animals.ts';

/** How many created animals are kept. Were it all of them, a contender's garbage would grow with its own speed. */
const keptCreates = 100_000;

function memoryAnimals(): Collection<Animal, 'status'> {
  const seeded = seededAnimals();
  const created: Animal[] = [];
  let lastId = seeded.length;

  const animals: Pick<Collection<Animal, 'status'>, 'create' | 'get' | 'list'> = {
    create: async ({ name, categoryId, status }) => {
      lastId += 1;
      const animal: Animal =
        status === undefined ? { id: lastId, name, categoryId } : { id: lastId, name, categoryId, status };
      created[(lastId - seeded.length - 1) % keptCreates] = animal;
      return animal;
    },
    get: (id) => {
      const animal = id <= seeded.length ? seeded[id - 1] : created[(id - seeded.length - 1) % keptCreates];
      return animal?.id === id ? animal : undefined;
    },
    // Of the animals that the store began with: a page is the same whatever was created meanwhile.
    list: ({ limit, where: { status } = {}, cursor = 0 }) => {
      const records: Animal[] = [];
      for (let index = Math.max(cursor, 0); index < seeded.length; index++) {
        // Within its bounds.
        const animal = seeded[index] as Animal;
        if (status !== undefined && animal.status !== status) continue;
        if (records.length === limit) return { records, hasNext: true };
        records.push(animal);
      }
      return { records, hasNext: false };
    },
  };
  // No case has creates that happen once, changes or deletes.
  return animals as Collection<Animal, 'status'>;
}

/** The store that every contender serves, in its own process: as fast as one can be, so that what is around it shows. */
export function memoryStore(): Store {
  const animals: unknown = memoryAnimals();
  // The key that is good is in the environment (`API_KEY`), as far as every contender is concerned.
  const keys: Pick<KeyStore, 'find' | 'list'> = { find: () => undefined, list: () => [] };
  return {
    collection: (() => animals) as Store['collection'],
    keys: keys as KeyStore,
    ready: () => {},
    close: async () => {},
  };
}

/**
 * What the process's own store is opened with, where this one stands in for it (`contenders/gateway.ts`).
 * @public
 */
export const openEmbeddedStore = async (): Promise<Store> => memoryStore();
