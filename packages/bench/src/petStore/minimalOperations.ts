import type { Animal, NewPet } from '@petstore/core';
import { Failure, notFound } from './failure.ts';
import type { ListInputs } from './schemas.ts';
import { findPet, listPets as pageOf, type PetPage, store } from './store.ts';

// The service as one writes it by hand: what is read is checked by hand, and what the store returns is not checked.

const statuses = new Set<unknown>(['available', 'pending', 'sold', undefined]);

const invalid = (message: string) => new Failure('BAD_REQUEST', 400, message);

export function getPet(input: unknown): Animal | Failure {
  const { petId } = input as { petId: number };
  if (!Number.isInteger(petId)) return invalid('petId: must be an integer');
  return findPet(petId) ?? notFound;
}

export function listPets(input: unknown): PetPage | Failure {
  const { limit = 20, cursor, status } = (input ?? {}) as Partial<ListInputs>;
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) return invalid('limit: must be 1 to 100');
  if (cursor !== undefined && !Number.isInteger(cursor)) return invalid('cursor: must be an integer');
  if (!statuses.has(status)) return invalid('status: must be available, pending or sold');
  return pageOf({ limit, cursor, status });
}

export function createPet(input: unknown): Failure | Promise<Animal> {
  const { name, categoryId, status } = (input ?? {}) as Partial<NewPet>;
  if (typeof name !== 'string' || name.length > 1000) return invalid('name: must be a string');
  if (!Number.isInteger(categoryId)) return invalid('categoryId: must be an integer');
  if (!statuses.has(status)) return invalid('status: must be available, pending or sold');
  return store.create({ name, categoryId, status } as NewPet);
}
