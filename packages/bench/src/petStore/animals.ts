import type { Animal } from '@petstore/core';

const statuses = ['available', 'pending', 'sold', undefined] as const;

/** How many animals a contender's store begins with. */
const seededCount = 1_000;

/** The animal with this id in every store that is measured. */
export function seededAnimal(id: number): Animal {
  const status = statuses[id % statuses.length];
  const animal = { id, name: `Animal number ${id}`, categoryId: id % 50 };
  return status === undefined ? animal : { ...animal, status };
}

/** The animals that a contender's store begins with: ids from 1, ascending. */
export const seededAnimals = (): Animal[] =>
  Array.from({ length: seededCount }, (_, index) => seededAnimal(index + 1));
