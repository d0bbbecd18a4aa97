import * as core from '@petstore/core';
import type { Animal } from '@petstore/core';
import { z } from 'zod';
import { type Failure, invalid, notFound } from './failure.ts';
import { memoryStore } from './memoryStore.ts';
import { protectedResolver } from './resolvers.ts';
import type { Operations, PetPage } from './rpc.ts';
import type { ListInputs } from './schemas.ts';
import * as inputs from './schemas.ts';

// The service by hand, for contenders without validation: input is validated, the store is called, output is validated.

/**
 * A schema as most use it, or compiled by hand: of what a framework wins that compiles its router's schemas, the row with
 * these says how much is that alone. Strict, since what cannot be compiled must not pass for it.
 */
const compiled = <Schema extends z.ZodType>(schema: Schema): Schema =>
  process.env['BENCH_SCHEMAS'] === 'compiled' ? z.compile(schema, { strict: true }) : schema;

const schemas = {
  GetInput: compiled(inputs.GetInput),
  ListInput: compiled(inputs.ListInput),
  NewPet: compiled(core.NewPet),
  Animal: compiled(core.Animal),
  Pets: compiled(core.Pets),
};

export const petStore = memoryStore();
export const store = petStore.collection(core.animals);

/** A page, as `listPets` makes it of its input. */
export const listPets = ({ limit, cursor, status }: ListInputs): PetPage =>
  // The store in memory returns no promise.
  store.list({ limit, cursor, where: { status } }) as PetPage;

function findPet(petId: number): Animal | Failure {
  // The store in memory returns no promise.
  const animal = store.get(petId) as Animal | undefined;
  return animal === undefined ? notFound : schemas.Animal.parse(animal);
}

function findPets(query: ListInputs): PetPage {
  const { records, hasNext } = listPets(query);
  return { records: schemas.Pets.parse(records), hasNext };
}

export const operations = {
  getPet: protectedResolver<unknown, Animal | Failure>((input) => {
    const parsed = schemas.GetInput.safeParse(input);
    return parsed.success ? findPet(parsed.data.petId) : invalid(parsed.error);
  }),

  listPets: protectedResolver<unknown, PetPage | Failure>((input) => {
    const parsed = schemas.ListInput.safeParse(input);
    return parsed.success ? findPets(parsed.data) : invalid(parsed.error);
  }),

  createPet: protectedResolver<unknown, Animal | Failure>((input) => {
    const parsed = schemas.NewPet.safeParse(input);
    if (!parsed.success) return invalid(parsed.error);
    return store.create(parsed.data).then((animal) => schemas.Animal.parse(animal));
  }),
} satisfies Operations;

/** The page after this one, as the value of `Link` (RFC 8288); `undefined` after the last. */
export function nextLink(query: ListInputs | object, { records, hasNext }: PetPage): string | undefined {
  const last = records.at(-1);
  if (!hasNext || last === undefined) return undefined;
  const { limit, status } = query as Partial<ListInputs>;
  const kept = new URLSearchParams();
  if (limit !== undefined) kept.append('limit', String(limit));
  if (status !== undefined) kept.append('status', status);
  kept.append('cursor', String(last.id));
  return `</v1/pets?${kept.toString()}>; rel="next"`;
}
