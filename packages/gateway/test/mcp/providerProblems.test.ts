import { inputs } from '@petstore/testing/forms';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { send } from './messages.ts';
import {
  anthropicProblems,
  geminiProblems,
  openAiProblems,
  providerProblems,
} from '@petstore/testing/providerProblems';
import { inProcess, tool } from './serveTools.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns the schemas of the arguments of tools whose inputs have the property `p`. */
async function schemasOf(properties: readonly z.ZodType[]): Promise<readonly JsonSchema[]> {
  const query = (p: z.ZodType) => tool.input(z.object({ p })).query(() => 1);
  const { server } = await inProcess(
    Object.fromEntries(properties.map((p, at) => [`t${at}`, query(p)] as const)),
  );
  const { message } = await send(server, 'tools/list');
  const { tools } = (message?.result ?? {}) as {
    readonly tools: readonly { readonly inputSchema: JsonSchema }[];
  };
  return tools.map(({ inputSchema }) => inputSchema);
}

const toolOf = (property: object, top: object = {}) => ({
  name: 'tool',
  inputSchema: { type: 'object', properties: { p: property }, ...top },
});

const text = { type: 'string' };
const nothing = { type: 'null' };
const recursive = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } }, required: ['next'] };

describe('a schema that an API rejects is a problem', () => {
  it.each([
    ['a name with a dot', { ...toolOf(text), name: 'a.b' }],
    ['a combinator at the top', toolOf(text, { anyOf: [{ required: ['p'] }] })],
    ['a property with a space', toolOf(text, { properties: { 'a b': text } })],
    ['the list of items of an older draft', toolOf({ type: 'array', items: [text] })],
  ])('of Anthropic: %s', (_what, each) => {
    expect(anthropicProblems(each)).toHaveLength(1);
  });

  it.each([
    ['no properties', { name: 'tool', inputSchema: { type: 'object' } }],
    ['an enumeration at the top', toolOf(text, { enum: [{}] })],
    ['an array without items', toolOf({ type: 'array', prefixItems: [text] })],
    ['a format', toolOf({ type: 'string', format: 'uri' })],
    ['oneOf', toolOf({ oneOf: [text, nothing] })],
    ['a value without a type', toolOf({ description: 'Any.' })],
    ['too many values', toolOf({ type: 'string', enum: Array.from({ length: 1001 }, (_, at) => `${at}`) })],
  ])('of OpenAI: %s', (_what, each) => {
    expect(openAiProblems(each)).toHaveLength(1);
  });

  it.each([
    ['a name with a digit first', { ...toolOf(text), name: '1st' }],
    ['a list of types', toolOf({ type: ['string', 'null'] })],
    ['a value without a type', toolOf({ const: 'a' }), 2],
    ['an array without items of its own', toolOf({ type: 'array', prefixItems: [text], items: false })],
    ['an enumeration of numbers', toolOf({ type: 'number', enum: [1] })],
    ['an empty text in an enumeration', toolOf({ type: 'string', enum: [''] })],
    ['a description beside anyOf', toolOf({ description: 'A.', anyOf: [text, nothing] })],
    ['a title beside a reference', toolOf({ title: 'A', $ref: '#/$defs/A' }, { $defs: { A: text } })],
    ['a reference to nothing', toolOf({ $ref: '#/$defs/A' })],
    ['a required property that is not defined', toolOf(text, { required: ['q'] })],
    ['a property with a hyphen', toolOf(text, { properties: { 'a-b': text } })],
    ['recursion by required properties', toolOf({ $ref: '#/$defs/Node' }, { $defs: { Node: recursive } })],
  ])('of Gemini: %s', (_what, each, count = 1) => {
    expect(geminiProblems(each)).toHaveLength(count);
  });
});

const any = { $ref: '#/$defs/any' };
const objectWith = (name: string) => ({ type: 'object', properties: { [name]: text }, required: [name] });

it.each<[what: string, schema: z.ZodType, written: object]>([
  [
    'a nullable text',
    z.string().nullable().describe('D.'),
    { anyOf: [{ ...text, description: 'D.' }, nothing] },
  ],
  ['a text or a number', z.union([z.string(), z.number()]), { anyOf: [text, { type: 'number' }] }],
  [
    'a list of nullable texts',
    z.array(z.string().nullable()),
    { type: 'array', items: { anyOf: [text, nothing] } },
  ],
  [
    'a record of nullable texts',
    z.record(z.string(), z.object({ a: z.string().nullable() })),
    {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: { a: { anyOf: [text, nothing] } },
        required: ['a'],
      },
    },
  ],
  [
    'a union that may be null',
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
])('the schema of %s is one that every API accepts', async (_what, schema, written) => {
  const [inputSchema = {}] = await schemasOf([schema]);
  expect(inputSchema['properties']).toEqual({ p: written });
  expect(providerProblems({ name: 'tool', inputSchema })).toEqual([]);
});

/** A schema, with values that it accepts. */
interface Sample {
  readonly schema: z.ZodType;
  readonly value: fc.Arbitrary<unknown>;
}

const leaves: readonly (readonly [z.ZodType, ...unknown[]])[] = [
  [z.string().describe('D.'), 'a'],
  [z.string().max(3), 'a'],
  [z.string().nullable().meta({ title: 'T', description: 'D.' }), 'a', null],
  [z.int().nullable().default(null), 1, null],
  [z.union([z.string(), z.boolean()]), 'a', true],
  [z.enum(['', 'a']).nullable(), '', 'a', null],
  [z.literal(['a', 1, null]), 'a', 1, null],
  [z.literal([true, 2]), true, 2],
  [z.unknown(), [[null]], { a: [1] }],
  [z.json(), [[null]], { a: [1] }],
  [z.url(), 'https://pets.example/'],
  [z.email(), 'a@pets.example'],
  [z.base64(), 'YQ=='],
  [z.record(z.enum(['a', 'b']), z.int()), { a: 1, b: 2 }],
  [z.null(), null],
];

const { sample } = fc.letrec<{ readonly sample: Sample }>((tie) => {
  const one = tie('sample');
  const some = fc.array(one, { minLength: 1, maxLength: 3 });
  const nested = fc.oneof(
    one.map(({ schema, value }) => ({ schema: z.array(schema), value: fc.array(value, { maxLength: 2 }) })),
    one.map(({ schema, value }) => ({
      schema: z.record(z.string(), schema),
      value: fc.dictionary(fc.constant('key'), value),
    })),
    one.map(({ schema, value }) => ({ schema: schema.nullish().describe('E.'), value: fc.option(value) })),
    fc.tuple(fc.constantFrom(z.object, z.strictObject, z.looseObject), some).map(([create, all]) => ({
      schema: create(Object.fromEntries(all.map(({ schema }, at) => [`p${at}`, schema]))),
      value: fc.record(Object.fromEntries(all.map(({ value }, at) => [`p${at}`, value]))),
    })),
    some.map((all) => ({
      schema: z.union(all.map(({ schema }) => schema)),
      value: fc.oneof(...all.map(({ value }) => value)),
    })),
    some.map((all) => ({
      schema: z.tuple(all.map(({ schema }) => schema) as [z.ZodType, ...z.ZodType[]]),
      value: fc.tuple(...all.map(({ value }) => value)),
    })),
  );
  return {
    sample: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc
        .constantFrom(...leaves)
        .map(([schema, ...values]) => ({ schema, value: fc.constantFrom(...values) })),
      { arbitrary: nested, weight: 3 },
    ),
  };
});

it('every API accepts the schema of any input, and the schema accepts what the input accepts', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const input = sample.chain(({ schema, value }) =>
    fc.array(value, { minLength: 3, maxLength: 3 }).map((values) => ({ schema, values })),
  );
  const perRun = 20;
  const check = fc.asyncProperty(fc.array(input, { minLength: perRun, maxLength: perRun }), async (all) => {
    const schemas = await schemasOf(all.map(({ schema }) => schema));
    for (const [at, { schema, values }] of all.entries()) {
      const inputSchema = schemas[at] ?? {};
      expect(providerProblems({ name: 'tool', inputSchema })).toEqual([]);
      const validate = ajv.compile(inputSchema);
      for (const p of values) {
        expect(schema.safeParse(p).success).toBe(true);
        expect([validate({ p }), validate.errors, p]).toEqual([true, null, p]);
      }
    }
  });
  await fc.assert(check, { numRuns: inputs(125, 25) });
}, 120_000);
