import { defineCollection } from '@petstore/core';
import { z } from 'zod';
import { Id, Text, Version } from './fields.ts';

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
