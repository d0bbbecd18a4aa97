import { type Animal, animals, type Page } from '@petstore/core';
import { memoryStore } from './memoryStore.ts';
import type { ListInputs } from './schemas.ts';

export const petStore = memoryStore();
export const store = petStore.collection(animals);

export type PetPage = Page<Animal>;

// The store in memory returns no promise to `get` and `list`.

export const findPet = (petId: number) => store.get(petId) as Animal | undefined;

/** A page, as `listPets` makes it of its input. */
export const listPets = ({ limit, cursor, status }: ListInputs): PetPage =>
  store.list({ limit, cursor, where: { status } }) as PetPage;
