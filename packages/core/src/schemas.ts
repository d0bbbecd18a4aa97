export { ApiError } from '@petstore/gateway/meta';
import { z } from 'zod';

/** An int64 that JSON carries exactly: ±(2^53−1). */
const exactInt64 = () => z.int().meta({ format: 'int64' });

/**
 * An animal's id as a client asks for it: any int64. Beyond ±(2^53−1) it names nothing (JSON could not carry it
 * exactly), so the document shows what can succeed.
 */
export const PetId: z.ZodNumber = z
  .number()
  .multipleOf(1, { error: 'must be an integer', abort: true })
  // zod 4.6 takes 5e-324 and 1.0000000000000002 for multiples of 1.
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

const aboutName = { description: "The animal's name.", examples: ['Rex'] };

/** The name of a stored animal. It has no maximum length: earlier versions stored longer names than a client may send. */
const name = z
  .string()
  // A lone surrogate has no UTF-8 form: it could not be stored, or sent back, unchanged.
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode: it has a lone surrogate')
  .meta(aboutName);

const MAX_NAME_LENGTH = 1000;

const newName = name
  // Not `max`, which counts UTF-16 units: JSON Schema's maxLength counts code points.
  .refine(
    (value) => hasAtMost(MAX_NAME_LENGTH, value),
    `must have at most ${MAX_NAME_LENGTH} characters (Unicode code points)`,
  )
  .meta({ ...aboutName, maxLength: MAX_NAME_LENGTH });

/** Whether a text has at most so many code points. Only a text between one and two units for each is counted. */
const hasAtMost = (limit: number, text: string) =>
  text.length <= limit || (text.length <= 2 * limit && Array.from(text).length <= limit);

const categoryId = exactInt64().meta({
  description: 'Identifier of the category the animal belongs to.',
  examples: [1],
});

export const NewPet = z
  .object({ name: newName, categoryId, status: PetStatus.optional() })
  .meta({ id: 'NewPet', description: 'An animal to add. The service assigns its id.' });
export type NewPet = z.output<typeof NewPet>;

export const Animal = z
  .object({
    id: exactInt64().meta({ description: 'Assigned by the service on creation.', examples: [1] }),
    name,
    categoryId,
    // Present or absent, never undefined: nothing is invented for a status that was omitted.
    status: PetStatus.exactOptional(),
  })
  .meta({ id: 'Animal', description: 'An animal that is available for adoption, or was.' });
export type Animal = z.output<typeof Animal>;

export const Pets = z.array(Animal).meta({ id: 'Pets', description: 'Animals in ascending order of id.' });
export type Pets = z.output<typeof Pets>;
