import type { Animal, KeyStore, Store } from '@petstore/core';
import { seededAnimals } from './animals.ts';

/** How many created animals are kept. Were it all of them, a contender's garbage would grow with its own speed. */
const keptCreates = 100_000;

/** The store that every contender serves, in its own process: as fast as one can be, so that what is around it shows. */
export function memoryStore(): Store {
  const seeded = seededAnimals();
  const created: Animal[] = [];
  let lastId = seeded.length;

  const animals: Pick<Store, 'create' | 'get' | 'list' | 'ready' | 'close'> = {
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
    // Of those it was made with: a page is the same whatever was created meanwhile.
    list: ({ limit, status, cursor = 0 }) => {
      const found: Animal[] = [];
      for (let index = Math.max(cursor, 0); index < seeded.length; index++) {
        // Within its bounds.
        const animal = seeded[index] as Animal;
        if (status !== undefined && animal.status !== status) continue;
        if (found.length === limit) return { animals: found, hasNext: true };
        found.push(animal);
      }
      return { animals: found, hasNext: false };
    },
    ready: () => {},
    close: async () => {},
  };
  // The key that is good is in the environment (`API_KEY`), as far as every contender is concerned.
  const keys: Pick<KeyStore, 'find' | 'list'> = { find: () => undefined, list: () => [] };
  // Nobody asks for creates that happen once, or for keys to be written.
  return { ...animals, keys: keys as KeyStore } as Store;
}

/**
 * What the process's own store is opened with, where this one stands in for it (`contenders/gateway.ts`).
 * @public
 */
export const openEmbeddedStore = async (): Promise<Store> => memoryStore();
