import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { scalarConverter } from './convert.ts';
import { zodOfJsonSchema } from './zodOfJsonSchema.ts';
import { typeKey, type JsonSchema } from './libraryJsonSchema.ts';

/** Returns the JSON Schema in the document for a converted JSON Schema. */
const documented = (json: JsonSchema, io: 'input' | 'output' = 'input') => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(zodOfJsonSchema(json), {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const { override } = (z.globalRegistry.get(zodSchema) ?? {}) as {
        override?: (context: object) => void;
      };
      override?.({ jsonSchema });
      delete jsonSchema['override'];
    },
  });
  return rest;
};

describe('zodOfJsonSchema', () => {
  it.each<[kind: string, json: JsonSchema]>([
    ['string', { type: 'string', format: 'date-time', minLength: 2 }],
    ['number', { type: 'number', exclusiveMinimum: 0 }],
    ['number', { type: 'number', multipleOf: 5 }],
    ['boolean', { type: 'boolean', description: 'Whether.' }],
    ['null', { type: 'null' }],
    ['null', { type: 'null', const: null }],
    ['union', { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'number' }] }],
    ['literal', { type: 'string', const: 'a' }],
    ['nullable', { type: ['string', 'null'], minLength: 1 }],
    ['nullable', { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] }],
    ['union', { oneOf: [{ type: 'string' }, { type: 'number' }] }],
    ['array', { type: 'array', items: { type: 'string' }, maxItems: 3 }],
    ['tuple', { type: 'array', prefixItems: [{ type: 'string' }], maxItems: 1 }],
    ['record', { type: 'object', additionalProperties: { type: 'number' } }],
    ['object', { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }],
    ['object', { properties: { a: {} }, additionalProperties: false }],
    ['intersection', { allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }],
    ['string', { allOf: [{ type: 'string', pattern: 'a' }, { pattern: 'b' }] }],
    ['unknown', {}],
    ['unknown', { const: { a: 1 } }],
    ['unknown', { enum: [{ a: 1 }, 'a'] }],
  ])('zodOfJsonSchema returns the type %s, and the document keeps the JSON Schema: %j', (kind, json) => {
    expect(zodOfJsonSchema(json).def.type).toBe(kind);
    expect(documented(json)).toEqual(json);
    expect(documented(json, 'output')).toEqual(json);
  });

  it.each<[json: JsonSchema, expected: JsonSchema]>([
    [{ const: 'a' }, { type: 'string', const: 'a' }],
    [{ const: true }, { type: 'boolean', const: true }],
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
  ])('the document has %j as %j, which more client generators read', (json, expected) => {
    expect(documented(json)).toEqual(expected);
  });

  it.each([
    ['date', { type: 'string', format: 'date-time' }],
    ['bigint', { type: 'integer', format: 'int64' }],
    ['file', { type: 'string', format: 'binary' }],
  ] as const)(
    'zodOfJsonSchema returns the type %s, and the document has its JSON representation',
    (type, represented) => {
      const json = {
        type: 'object',
        properties: {
          a: { [typeKey]: type },
          b: { anyOf: [{ [typeKey]: type }, { [typeKey]: 'undefined' }] },
        },
      };
      const { shape } = zodOfJsonSchema(json) as z.ZodObject;
      expect(shape['a']).toMatchObject({ def: { type: 'optional', innerType: { def: { type } } } });
      expect(documented(json)).toEqual({ type: 'object', properties: { a: represented, b: represented } });
    },
  );

  it('zodOfJsonSchema returns a recursive schema for a recursive JSON Schema', () => {
    const json = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          description: 'A node.',
          properties: { name: { type: 'string', minLength: 1 }, next: { $ref: '#/$defs/node' } },
          required: ['name'],
        },
      },
    };
    const { $ref, $defs } = documented(json, 'output');
    expect(Object.entries($defs ?? {})).toEqual([
      [
        $ref?.split('/').at(-1),
        {
          description: 'A node.',
          type: 'object',
          properties: { name: { type: 'string', minLength: 1 }, next: { $ref } },
          required: ['name'],
        },
      ],
    ]);
  });

  it.each([
    ['anyOf', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    ['type', { type: ['string', 'number'] }],
  ])('scalarConverter rejects the schema of a JSON Schema that is a string or a number, by %s', (_, json) => {
    expect(() => scalarConverter(zodOfJsonSchema(json))).toThrow(/is a union in which "5" could be/);
  });

  it.each<[json: JsonSchema, schema: z.ZodType]>([
    [{ type: 'integer' }, z.int()],
    [{ type: 'number' }, z.number()],
    [{ type: 'number', multipleOf: 3 }, z.number().multipleOf(3)],
    [{ type: 'boolean' }, z.boolean()],
    [{ enum: ['a', 5, false] }, z.literal(['a', 5, false])],
    [{ type: 'string', format: 'date-time' }, z.iso.datetime()],
    [{ [typeKey]: 'date' }, z.date()],
    [{ type: ['integer', 'boolean'] }, z.union([z.int(), z.boolean()])],
  ])('the converter for the JSON Schema %j equals that of the zod schema', (json, schema) => {
    const [one, other] = [scalarConverter(zodOfJsonSchema(json)), scalarConverter(schema)];
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
});
