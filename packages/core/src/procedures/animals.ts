import { z } from 'zod';
import { defineCollection } from '../store/collection.ts';
import { procedure } from '../trpc.ts';
import { createErrors, createRecord, getRecord, listRecords, storeUnavailable } from './records.ts';

/** An int64 that JSON represents exactly, ±(2^53−1). In a path, any other is 404: no record has it. */
const int64Id = () => z.int().meta({ format: 'int64' });

export const PetId = int64Id().meta({ description: 'Identifier of the animal.', examples: [1] });

export const PetStatus = z
  .enum(['available', 'pending', 'sold'])
  .meta({ id: 'PetStatus', description: 'Availability status.', examples: ['available'] });
export type PetStatus = z.output<typeof PetStatus>;

const nameMeta = { description: "The animal's name.", examples: ['Rex'] };

/** Name of a stored animal. It has no maximum length because earlier versions stored longer names than clients may send now. */
const storedName = z
  .string()
  // A lone surrogate has no UTF-8 encoding, so it cannot be stored or returned unchanged.
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode, without lone surrogates')
  .meta(nameMeta);

const MAX_NAME_LENGTH = 1000;

const newName = storedName
  // Not `max`, which counts UTF-16 units: JSON Schema's maxLength counts code points.
  .refine(
    (value) => hasAtMost(MAX_NAME_LENGTH, value),
    `must be at most ${MAX_NAME_LENGTH} characters long (Unicode code points)`,
  )
  .meta({ ...nameMeta, maxLength: MAX_NAME_LENGTH });

/** Whether a string has at most `limit` code points. It counts only if the number of UTF-16 units does not decide it. */
const hasAtMost = (limit: number, text: string) =>
  text.length <= limit || (text.length <= 2 * limit && Array.from(text).length <= limit);

const categoryId = int64Id().meta({
  description: 'Identifier of the category the animal belongs to.',
  examples: [1],
});

export const NewPet = z.object({ name: newName, categoryId, status: PetStatus.optional() }).meta({
  id: 'NewPet',
  description: 'An animal to add. The service assigns its id.',
  // The docs page sends it. Without it, the page sends a value for every field, even for those that refer to another record.
  examples: [{ name: 'Rex', categoryId: 1, status: 'available' }],
});
export type NewPet = z.output<typeof NewPet>;

export const Animal = z
  .object({
    id: int64Id().meta({ description: 'Assigned by the service on creation.', examples: [1] }),
    name: storedName,
    categoryId,
    // Present or absent, never undefined: an omitted status gets no default.
    status: PetStatus.exactOptional(),
  })
  .meta({ id: 'Animal', description: 'An animal that is or was available for adoption.' });
export type Animal = z.output<typeof Animal>;

export const Pets = z.array(Animal).meta({ id: 'Pets', description: 'Animals in ascending order of id.' });
export type Pets = z.output<typeof Pets>;

export const animals = defineCollection({
  name: 'animals',
  schema: Animal,
  id: 'sequence',
  indexes: ['status'],
});

export const listPets = procedure
  .meta({
    mcp: true,
    openapi: {
      method: 'GET',
      path: '/pets',
      summary: 'List animals',
      description:
        'Animals in ascending order of id, optionally filtered by status. For the next page, pass the id of the last animal as `cursor`.',
      tags: ['pets'],
      successDescription: 'A page of animals.',
      errorResponses: storeUnavailable,
      pagination: { cursor: 'cursor' },
    },
  })
  .input(
    z
      .object({
        limit: z
          .int()
          .min(1)
          .max(100)
          .default(20)
          .meta({ description: 'Maximum number of animals returned.' }),
        status: PetStatus.optional().meta({ description: 'Only animals with this status.' }),
        cursor: z.int().optional().meta({ description: 'Only animals with a greater id.', format: 'int64' }),
      })
      // tRPC clients may omit the input.
      .prefault({}),
  )
  .output(Pets)
  .query((call) => {
    const { limit, cursor, status } = call.input;
    return listRecords(call, animals, { limit, cursor, where: { status } });
  });

export const createPet = procedure
  .meta({
    mcp: {
      description:
        'Adds an animal. The service assigns its id. No tool says what a categoryId means: ask the person for it, or use that of an animal of the same category in listPets.',
    },
    idempotencyKey: 'handled',
    openapi: {
      method: 'POST',
      path: '/pets',
      summary: 'Add an animal',
      description: 'Adds an animal. The service assigns its id.',
      tags: ['pets'],
      successStatus: 201,
      successDescription: 'The created animal, with its id.',
      errorResponses: createErrors('animal'),
      headers: {
        Location: {
          description: 'URL of the animal.',
          value: (animal: Animal, { basePath }) => `${basePath}/pets/${animal.id}`,
        },
      },
    },
  })
  .input(NewPet)
  .output(Animal)
  .mutation((call) => createRecord(call, animals, call.input));

export const getPet = procedure
  .meta({
    mcp: true,
    openapi: {
      method: 'GET',
      path: '/pets/{petId}',
      summary: 'Get an animal',
      description: 'One animal by its identifier. Use the list of animals with the `status` filter instead.',
      tags: ['pets'],
      successDescription: 'The animal.',
      errorResponses: { ...storeUnavailable, 404: 'The animal was not found.' },
      deprecated: true,
      deprecation: {
        since: new Date('2026-11-20T00:00:00Z'),
        sunset: new Date('2030-12-05T00:00:00Z'),
        successor: '/pets',
        documentation: '/docs',
      },
    },
  })
  .input(z.object({ petId: PetId }))
  .output(Animal)
  .query((call) => getRecord(call, animals, call.input.petId));
