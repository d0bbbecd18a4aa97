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
    objectA.and(z.object({ b: z.string() }).or(z.string())),
    { ...a, description: more },
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
