import { z } from 'zod';
import { defineCollection } from '../store/collection.ts';
import { procedure } from '../trpc.ts';
import { createRecord, getRecord, listRecords, storeUnavailable } from './records.ts';

/** An int64 that JSON represents exactly: ±(2^53−1). */
const exactInt64 = () => z.int().meta({ format: 'int64' });

/**
 * Id of an animal in a request: any int64. No animal has an id beyond ±(2^53−1), which JSON cannot represent exactly, so
 * the OpenAPI document shows that narrower range.
 */
export const PetId: z.ZodNumber = z
  .number()
  .multipleOf(1, { error: 'must be an integer', abort: true })
  // zod 4.6 accepts 5e-324 and 1.0000000000000002 as multiples of 1.
  .refine(Number.isInteger, 'must be an integer')
  .gte(-(2 ** 63), 'must be an int64')
  .lt(2 ** 63, 'must be an int64')
  .meta({
    description: 'Identifier of the animal.',
    examples: [1],
    override({ jsonSchema }) {
      delete jsonSchema.multipleOf;
      delete jsonSchema.exclusiveMaximum;
      Object.assign(jsonSchema, {
        type: 'integer',
        format: 'int64',
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
      });
    },
  });

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

const categoryId = exactInt64().meta({
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
    id: exactInt64().meta({ description: 'Assigned by the service on creation.', examples: [1] }),
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
    mcp: {
      description:
        'Lists animals in ascending order of id, optionally only those with a status. For the next page, pass the id of the last animal as cursor.',
    },
    openapi: {
      method: 'GET',
      path: '/pets',
      summary: 'List animals',
      description:
        'Animals in ascending order of id, optionally filtered by status. A full page links to the next page, if there is one.',
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
    return listRecords(call.ctx, animals, { limit, cursor, where: { status } }, call);
  });

export const createPet = procedure
  .meta({
    mcp: true,
    idempotencyKey: 'handled',
    openapi: {
      method: 'POST',
      path: '/pets',
      summary: 'Add an animal',
      description: 'Adds an animal. The service assigns its id.',
      tags: ['pets'],
      successStatus: 201,
      successDescription: 'The created animal, with its id.',
      errorResponses: {
        ...storeUnavailable,
        429: 'Too many calls, or too many idempotency keys used with one API key within a day.',
        504: 'The store did not respond in time. Whether the animal was added is unknown.',
      },
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
  .mutation((call) => createRecord(call.ctx, animals, call.input, call));

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
  .query((call) => getRecord(call.ctx, animals, call.input.petId, call));
