import { type Animal, animals, type NewPet } from '@petstore/core';
import { Failure, notFound } from './failure.ts';
import { memoryStore } from './memoryStore.ts';
import { protectedResolver } from './resolvers.ts';
import type { Operations, PetPage } from './rpc.ts';
import type { ListInputs } from './schemas.ts';

// The service as one writes it by hand: what is read is checked by hand, and what the store returns is not checked.

const store = memoryStore().collection(animals);
const statuses = new Set<unknown>(['available', 'pending', 'sold', undefined]);

const invalid = (message: string) => new Failure('BAD_REQUEST', 400, message, -32_600);

export const minimalOperations = {
  getPet: protectedResolver<unknown, Animal | Failure>((input) => {
    const { petId } = input as { petId: number };
    if (!Number.isInteger(petId)) return invalid('petId: must be an integer');
    // The store in memory returns no promise here, nor below.
    return (store.get(petId) as Animal | undefined) ?? notFound;
  }),

  listPets: protectedResolver<unknown, PetPage | Failure>((input) => {
    const { limit = 20, cursor, status } = (input ?? {}) as Partial<ListInputs>;
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) return invalid('limit: must be 1 to 100');
    if (cursor !== undefined && !Number.isInteger(cursor)) return invalid('cursor: must be an integer');
    if (!statuses.has(status)) return invalid('status: must be available, pending or sold');
    return store.list({ limit, cursor, where: { status } });
  }),

  createPet: protectedResolver<unknown, Animal | Failure>((input) => {
    const { name, categoryId, status } = (input ?? {}) as Partial<NewPet>;
    if (typeof name !== 'string' || name.length > 1000) return invalid('name: must be a string');
    if (!Number.isInteger(categoryId)) return invalid('categoryId: must be an integer');
    if (!statuses.has(status)) return invalid('status: must be available, pending or sold');
    return store.create({ name, categoryId, status } as NewPet);
  }),
} satisfies Operations;
