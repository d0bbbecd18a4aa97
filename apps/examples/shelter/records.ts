import { defineCollection } from '@petstore/core';
import { z } from 'zod';

/** The id of a record. */
export const Id = z.int().min(1);

/** Text that every store keeps unchanged. Lone surrogates are rejected, because UTF-8 cannot encode them. */
export const Text = z
  .string()
  .min(1)
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode, without lone surrogates');

/** The version of a record: starts at 1 and is incremented by each change. */
export const Version = z
  .int()
  .min(1)
  .meta({ description: 'Starts at 1 and is incremented by each change. Set by the service.' });

// The records that events have. `animals.ts` and `adoptions.ts` have their procedures.

export const Status = z.enum(['available', 'reserved', 'adopted']).meta({ id: 'Status' });
export const animalFields = { name: Text, categoryId: Id, status: Status };
export const NewAnimal = z
  .object({ ...animalFields, status: Status.default('available') })
  .meta({ id: 'NewAnimal' });
export const Animal = z.object({ id: Id, version: Version, ...animalFields }).meta({ id: 'Animal' });

export const animals = defineCollection({
  name: 'animals',
  schema: Animal,
  id: 'sequence',
  indexes: ['categoryId', 'status'],
});

export const AnimalChange = z.object({
  type: z
    .enum(['created', 'updated', 'moved', 'deleted'])
    .meta({ description: '`moved`: its category may have changed, too.' }),
  animalId: Id,
  animal: Animal.optional().meta({ description: 'The animal after the change, unless it is deleted.' }),
});
export type AnimalChange = z.output<typeof AnimalChange>;

export const Adoption = z
  .object({ id: Id, animalId: Id, adopter: Text, adoptedAt: z.iso.datetime() })
  .meta({ id: 'Adoption' });
export type Adoption = z.output<typeof Adoption>;

export const adoptions = defineCollection({ name: 'adoptions', schema: Adoption, id: 'sequence' });
