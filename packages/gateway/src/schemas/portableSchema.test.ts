import { providerProblems } from '@petstore/testing/providerProblems';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { portableSchema } from './portableSchema.ts';
import { createReadSchema } from './readSchema.ts';
import { writeJsonSchema, type JsonSchema } from './toolSchema.ts';

const read = createReadSchema(() => {});
const text = { type: 'string' };
const withPattern = (pattern: string) => ({ ...text, pattern });
const nothing = { type: 'null' };
const any = { $ref: '#/$defs/any' };
const a = { type: 'object', properties: { a: text }, required: ['a'] };
const more = 'More rules apply; the error of a call says which.';
const objectA = z.object({ a: z.string() });
const objectWith = (name: string) => ({ type: 'object', properties: { [name]: text }, required: [name] });

it.each<[what: string, schema: z.ZodType, written: object]>([
  [
    'two patterns',
    z.string().regex(/a/).regex(/b/),
    { ...text, allOf: [withPattern('a'), withPattern('b')] },
  ],
  [
    'a start and an end',
    z.string().startsWith('a').endsWith('b'),
    { ...text, allOf: [withPattern('^a.*'), withPattern('.*b$')] },
  ],
  [
    'an intersection of several types',
    z.strictObject({ a: z.string() }).and(z.object({ b: z.string() }).or(z.string())),
    { ...a, description: more },
  ],
  [
    'an intersection of lists',
    z.array(z.string()).and(z.array(z.string()).max(2)),
    {
      type: 'array',
      items: any,
      allOf: [
        { type: 'array', items: text },
        { type: 'array', items: text, maxItems: 2 },
      ],
    },
  ],
  [
    'an intersection that begins with a union',
    objectA.or(z.string()).and(objectA).describe('A pet'),
    { anyOf: [{ ...a, description: `A pet. ${more}` }, text] },
  ],
  [
    'a described intersection of several types',
    objectA.and(z.object({ b: z.string() }).or(z.string())).describe('A pet'),
    { ...a, description: `A pet. ${more}` },
  ],
  [
    'an intersection with anything',
    z.any().and(z.string().min(1)),
    { ...text, allOf: [{ ...text, minLength: 1 }] },
  ],
  [
    'a default of null',
    z.string().nullable().default(null),
    { anyOf: [text, { ...nothing, default: null }] },
  ],
  [
    'a default that an enumeration lacks',
    z.enum(['x']).or(z.string()).default('y'),
    {
      anyOf: [
        { ...text, enum: ['x'] },
        { ...text, default: 'y' },
      ],
    },
  ],
  [
    'a default of another type than the first',
    z.string().or(z.array(z.int())).default([]).describe('Ids.'),
    {
      anyOf: [
        { ...text, description: 'Ids.' },
        { type: 'array', items: { type: 'integer' }, default: [] },
      ],
    },
  ],
  [
    'a description without an end',
    z.url().describe('Home page'),
    { ...text, description: 'Home page. Format: uri.' },
  ],
  [
    'a nullable text',
    z.string().nullable().describe('D.'),
    { anyOf: [{ ...text, description: 'D.' }, nothing] },
  ],
  [
    'a record of nullable texts',
    z.record(z.string(), z.string().nullable()),
    { type: 'object', additionalProperties: { anyOf: [text, nothing] } },
  ],
  [
    'a text, a number or null',
    z.union([z.string(), z.number()]).nullable(),
    { anyOf: [text, { type: 'number' }, nothing] },
  ],
  ['constants with null', z.literal(['a', null]), { anyOf: [{ ...text, enum: ['a'] }, nothing] }],
  ['a number', z.literal(1).describe('D.'), { type: 'number', description: 'D. Must be 1.' }],
  ['numbers', z.literal([1, 2]), { type: 'number', description: 'One of 1, 2.' }],
  [
    'an empty text',
    z.enum(['', 'a']),
    {
      anyOf: [
        { ...text, enum: ['a'] },
        { ...text, maxLength: 0 },
      ],
    },
  ],
  ['a URL', z.url(), { ...text, description: 'Format: uri.' }],
  ['any value', z.unknown().describe('D.'), { ...any, description: 'D.' }],
  ['any values', z.array(z.any()), { type: 'array', items: any }],
  [
    'a pair',
    z.tuple([z.string(), z.string()]),
    { type: 'array', prefixItems: [text, text], items: text, minItems: 2, maxItems: 2 },
  ],
  [
    'a tuple',
    z.tuple([z.string(), z.boolean()]),
    {
      type: 'array',
      prefixItems: [text, { type: 'boolean' }],
      items: { anyOf: [text, { type: 'boolean' }] },
      minItems: 2,
      maxItems: 2,
    },
  ],
  [
    'a discriminated union',
    z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })]),
    {
      anyOf: ['a', 'b'].map((value) => ({
        type: 'object',
        properties: { k: { ...text, enum: [value] } },
        required: ['k'],
      })),
    },
  ],
  [
    'a record of an enumeration',
    z.record(z.enum(['a']), z.boolean()),
    {
      type: 'object',
      propertyNames: { ...text, enum: ['a'] },
      additionalProperties: { type: 'boolean' },
      properties: { a: { type: 'boolean' } },
      required: ['a'],
    },
  ],
  [
    'properties that must be absent',
    z.object({ a: z.string(), b: z.never().optional(), c: z.void() }),
    { type: 'object', properties: { a: text }, required: ['a'] },
  ],
  ['an empty list', z.array(z.never()), { type: 'array', items: any, maxItems: 0 }],
  ['an empty record', z.record(z.string(), z.never()), { type: 'object', additionalProperties: false }],
  [
    'an intersection of unions',
    z.intersection(
      z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      z.union([z.object({ c: z.string() }), z.object({ d: z.string() })]),
    ),
    {
      type: 'object',
      allOf: [
        ['a', 'b'],
        ['c', 'd'],
      ].map((names) => ({ anyOf: names.map(objectWith) })),
    },
  ],
  ['a union of nothing', z.union([z.never(), z.never()]).describe('None.'), { ...any, description: 'None.' }],
])('the portable schema keeps what it can of %s', (_what, schema, written) => {
  const inputSchema = portableSchema(writeJsonSchema(read(z.object({ p: schema }), 'input', 'input') ?? {}));
  expect((inputSchema['properties'] as JsonSchema)['p']).toEqual(written);
  expect(providerProblems({ name: 'tool', inputSchema })).toEqual([]);
});

it('the portable schema defines any value only where it is used', () => {
  const properties = { p: { $ref: '#/$defs/anyone' } };
  const schema = { type: 'object', properties, $defs: { anyone: text } };
  expect(portableSchema(schema)).toEqual(schema);
});
