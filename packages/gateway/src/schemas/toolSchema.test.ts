import { expect, it } from 'vitest';
import { z } from 'zod';
import { createReadSchema } from './readSchema.ts';
import { writeJsonSchema } from './toolSchema.ts';

const read = createReadSchema(() => {});
const write = (schema: z.ZodType) => writeJsonSchema(read(schema, 'input', 'input') ?? {});

it.each<[what: string, schema: z.ZodType, written: object]>([
  ['bounds of safe integers', z.int(), { type: 'integer' }],
  ['the other bound of a safe integer', z.int().min(1), { type: 'integer', minimum: 1 }],
  ['bounds of all numbers', z.float64(), { type: 'number' }],
  ['the pattern of an email address', z.email(), { type: 'string', format: 'email' }],
  ['the pattern of a date-time', z.iso.datetime({ offset: true }), { type: 'string', format: 'date-time' }],
  ['the pattern of a date', z.iso.date(), { type: 'string', format: 'date' }],
  ['the pattern of a UUID', z.uuidv7(), { type: 'string', format: 'uuid' }],
  ['an encoding that the format names', z.base64(), { type: 'string', format: 'base64' }],
  [
    'the names of a record of texts',
    z.record(z.string(), z.boolean()),
    { type: 'object', additionalProperties: { type: 'boolean' } },
  ],
  [
    'other properties of any value',
    z.looseObject({ a: z.string() }),
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  ],
])('the schema of a tool leaves out %s', (_what, schema, written) => {
  expect(write(schema)).toEqual(written);
});

it.each<[what: string, schema: z.ZodType, written: object]>([
  ['bounds', z.int32(), { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 }],
  ['the pattern of a schema', z.string().regex(/^ab$/), { type: 'string', pattern: '^ab$' }],
  [
    'a pattern of its own of a format',
    z.email({ pattern: /@pets\.example$/ }),
    { type: 'string', format: 'email', pattern: String.raw`@pets\.example$` },
  ],
  [
    'the pattern of a time, which has no format',
    z.iso.time({ precision: -1 }),
    { type: 'string', pattern: expect.any(String) as unknown },
  ],
  [
    'the names of a record',
    z.partialRecord(z.enum(['a', 'b']), z.boolean()),
    {
      type: 'object',
      propertyNames: { type: 'string', enum: ['a', 'b'] },
      additionalProperties: { type: 'boolean' },
    },
  ],
])('the schema of a tool keeps %s', (_what, schema, written) => {
  expect(write(schema)).toEqual(written);
});

const Point = z.object({ x: z.int() }).meta({ id: 'PointOfThisTest' });

it.each<[what: string, schema: z.ZodType]>([
  ['with an id', Point],
  ['that refers to one with an id', z.lazy(() => Point).meta({ id: 'AliasOfThisTest' })],
  ['whose id replaces another', Point.meta({ id: 'OtherPointOfThisTest' })],
])('a schema %s is not behind a reference if it is the whole', (_what, schema) => {
  const point = { type: 'object', properties: { x: { type: 'integer' } }, required: ['x'] };
  expect(write(schema)).toEqual(point);
});

it('a schema with an id that is used once is written where it is used', () => {
  expect(write(z.object({ at: Point.describe('Where.') }))).toEqual({
    type: 'object',
    properties: {
      at: { type: 'object', properties: { x: { type: 'integer' } }, required: ['x'], description: 'Where.' },
    },
    required: ['at'],
  });
});

it('a schema that is used twice or contains itself is a reference, with only a description beside it', () => {
  const Tree = z.object({
    point: Point,
    get children() {
      return z.array(Tree).meta({ title: 'Children', description: 'Below it.' });
    },
    get next() {
      return Tree.optional().meta({ title: 'Next', description: 'Beside it.' });
    },
  });
  const reference = { $ref: '#/$defs/schema' };
  expect(write(z.object({ tree: Tree, other: Point }))).toMatchObject({
    properties: { tree: reference, other: { $ref: '#/$defs/PointOfThisTest' } },
    $defs: {
      schema: {
        properties: {
          children: { items: reference, title: 'Children' },
          next: { ...reference, description: 'Beside it.' },
        },
      },
    },
  });
  const { properties } = write(Tree.shape.next.unwrap());
  expect(properties).toHaveProperty('next', { ...reference, description: 'Beside it.' });
});
