import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Components } from './components.ts';
import type { StandardSchema } from './standardSchema.ts';
import { scalarConverter } from '../operations/convert.ts';
import { createReadSchema, readJson, readZod } from './readSchema.ts';
import { acceptsUndefined, type Schema } from './schema.ts';

/** Creates a schema of an unknown library. */
const schemaOf = (
  json: (side: string, options: unknown) => Record<string, unknown>,
  validate: StandardSchema['~standard']['validate'] = () => ({ issues: [{ message: 'No.' }] }),
) => ({
  '~standard': {
    version: 1,
    vendor: 'other',
    validate,
    jsonSchema: {
      input: (options: unknown) => json('input', options),
      output: (options: unknown) => json('output', options),
    },
  },
});

const read = (schema: unknown, side: 'input' | 'output' = 'input') => {
  const warnings: string[] = [];
  const result = createReadSchema((sentence) => warnings.push(sentence))(schema, side, side);
  return { result, warnings };
};

it.each([
  ['has no Standard JSON Schema', undefined, 'it has no ~standard.jsonSchema'],
  [
    'throws',
    () => {
      throw new Error('A Temporal.Instant has no JSON Schema.');
    },
    'A Temporal.Instant has no JSON Schema.',
  ],
])('readSchema rejects the input and leaves out the output of a library that %s', (_, json, reason) => {
  const { jsonSchema, ...standard } = schemaOf(json ?? (() => ({})))['~standard'];
  const schema = { '~standard': json ? { ...standard, jsonSchema } : standard };
  const { result, warnings } = read(schema, 'output');
  expect(result).toBeUndefined();
  const sentence = (side: string) =>
    `its ${side} is a schema of other without a JSON Schema (${reason}); use types that JSON Schema can express, and for Valibot toStandardJsonSchema(schema) of @valibot/to-json-schema`;
  expect(warnings).toEqual([`${sentence('output')}.`]);
  expect(() => read(schema, 'input')).toThrow(sentence('input'));
});

it.each([
  ['accepts an absent value', () => ({ value: undefined }), true, true],
  ['has a default for an absent value', () => ({ value: 5 }), true, false],
  ['rejects an absent value', () => ({ issues: [{ message: 'No.' }] }), false, false],
  ['validates asynchronously', () => Promise.reject(new Error('later')), false, false],
  [
    'throws',
    () => {
      throw new Error('thrown');
    },
    false,
    false,
  ],
] as const)(
  'readSchema makes a schema optional only if its parser accepts or returns undefined: a parser that %s',
  (_, validate, input, output) => {
    const schema = schemaOf(() => ({ type: 'number' }), validate);
    const [one, other] = (['input', 'output'] as const).map((side) => read(schema, side).result ?? {});
    expect([one, other].map((each) => each && acceptsUndefined(each))).toEqual([input, output]);
  },
);

function documented(schema: Schema) {
  const components = new Components();
  return { schema: components.write(schema, 'input'), schemas: components.schemas };
}

describe('a schema in the document', () => {
  it.each<object>([
    { type: 'string', format: 'date-time', minLength: 2 },
    { type: 'string', default: { enum: ['a'] } },
    { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'number' }] },
    { type: ['string', 'null'], minLength: 1 },
    { type: 'array', prefixItems: [{ type: 'string' }], maxItems: 1 },
    { type: 'object', additionalProperties: { type: 'number' } },
    { properties: { a: {} }, additionalProperties: false },
    { allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
    { const: { a: 1 } },
    { enum: [{ a: 1 }, 'a'] },
    {},
  ])('%j is the JSON Schema of its library', (json) => {
    expect(documented(readJson({ ...json }))).toEqual({ schema: json, schemas: {} });
  });

  it.each<[json: object, expected: object]>([
    [{ const: 'a' }, { type: 'string', const: 'a' }],
    [{ const: null }, { type: 'null', const: null }],
    [{ enum: ['a', null] }, { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] }],
    [
      { description: 'A.', enum: ['a', 1, 2] },
      {
        description: 'A.',
        anyOf: [
          { type: 'string', enum: ['a'] },
          { type: 'number', enum: [1, 2] },
        ],
      },
    ],
    [{ enum: [1, 2.5] }, { type: 'number', enum: [1, 2.5] }],
    [
      { properties: { kind: { enum: ['a', 'b'] } } },
      { properties: { kind: { type: 'string', enum: ['a', 'b'] } } },
    ],
    [
      { type: 'array', prefixItems: [{ const: 'a' }, {}], items: false },
      { type: 'array', prefixItems: [{ type: 'string', const: 'a' }, {}], maxItems: 2 },
    ],
  ])('%j is written as %j, which more client generators read', (json, expected) => {
    expect(documented(readJson({ ...json })).schema).toEqual(expected);
  });

  it('a named schema that input and output share is written once; where they differ, the output has its own name', () => {
    const Same = z.looseObject({ a: z.string() }).meta({ id: 'Same' });
    const Pet = z
      .object({
        a: z.string(),
        get owner() {
          return Owner.optional();
        },
      })
      .meta({ id: 'Pet' });
    const Owner: z.ZodType = z
      .object({
        get pets() {
          return z.array(Pet);
        },
      })
      .meta({ id: 'Owner', outputId: 'Keeper' });
    const components = new Components();
    const written = (['input', 'output'] as const).flatMap((side) =>
      [Same, Pet].map((schema) => components.write(readZod(schema, side), side)),
    );
    const names = ['Same', 'Pet', 'Same', 'PetOutput'];
    expect(written).toEqual(names.map((name) => ({ $ref: `#/components/schemas/${name}` })));
    expect(components.schemas).toMatchObject({
      PetOutput: {
        additionalProperties: false,
        properties: { owner: { $ref: '#/components/schemas/Keeper' } },
      },
      Keeper: { properties: { pets: { items: { $ref: '#/components/schemas/PetOutput' } } } },
    });
  });
});

it.each<[json: object, schema: z.ZodType]>([
  [{ type: 'integer' }, z.int()],
  [{ type: 'number' }, z.number()],
  [{ type: 'number', multipleOf: 3 }, z.number().multipleOf(3)],
  [{ type: 'boolean' }, z.boolean()],
  [{ enum: ['a', 5, false] }, z.literal(['a', 5, false])],
  [{ type: 'string', format: 'date-time' }, z.iso.datetime()],
  [{ allOf: [{ type: 'string', pattern: 'a' }, { pattern: 'b' }] }, z.string()],
  [{ type: ['integer', 'boolean'] }, z.union([z.int(), z.boolean()])],
  [{ type: ['integer', 'null'] }, z.int().nullable()],
])('the converter of the JSON Schema %j equals that of the zod schema', (json, schema) => {
  const [one, other] = [scalarConverter(readJson({ ...json })), scalarConverter(readZod(schema, 'input'))];
  const texts = fc.oneof(
    fc.constantFrom('', '5', '5.0', '1e3', 'true', 'a', ' 5', '2026-01-01T00:00:00Z', '9007199254740993'),
    fc.double().map(String),
    fc.integer().map(String),
    fc.string(),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(one.convert(text)).toEqual(other.convert(text));
    }),
  );
  expect(one.expects).toBe(other.expects);
});
