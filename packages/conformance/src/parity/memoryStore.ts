import type { Animal, Collection, Store } from '@petstore/core';

/**
 * A store in memory that returns rows with additional fields, such as a password hash. Only the output schemas can keep
 * these fields from clients, on each protocol.
 */
export function memoryStore(): {
  readonly store: Store;
  readonly names: () => string[];
  readonly clear: () => void;
} {
  const rows: Animal[] = [];
  const row = (animal: Animal) => ({ ...animal, _id: `row-${animal.id}`, passwordHash: 'hunter2' });
  const animals: Pick<Collection<Animal, 'status'>, 'create' | 'get' | 'list'> = {
    create: async (pet) => {
      const animal = { ...pet, id: rows.length + 1 } as Animal;
      rows.push(animal);
      return row(animal);
    },
    get: (id) => rows.filter((animal) => animal.id === id).map(row)[0],
    list: ({ limit, where: { status } = {}, cursor = Number.MIN_SAFE_INTEGER }) => {
      const matches = rows.filter(
        (animal) => animal.id > cursor && (status === undefined || animal.status === status),
      );
      return { records: matches.slice(0, limit).map(row), hasNext: matches.length > limit };
    },
  };
  const clear = () => {
    rows.length = 0;
  };
  // The procedures use nothing else of a store.
  const store = { collection: () => animals } as unknown as Store;
  return { store, names: () => rows.map(({ name }) => name), clear };
}
