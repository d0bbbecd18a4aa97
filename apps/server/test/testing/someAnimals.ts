import type { Animal } from '@petstore/core';

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
