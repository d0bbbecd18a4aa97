import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { t, testGateway } from '../../testing/testGateway.ts';
import { callTool, listTools } from '@petstore/testing/mcpMessages';
import { mcp } from './index.ts';

const tool = t.procedure.meta({ mcp: { description: 'A tool of the tests.' } });

/** Serves a tool that returns its input, with how the procedure sees it. */
async function serve(...chain: readonly z.ZodType[]) {
  const received = vi.fn<(input: unknown) => void>();
  const builder = chain.reduce(
    (all, input) => all.input(input as z.ZodObject) as unknown as typeof all,
    tool,
  );
  const echo = builder.query(({ input }) => {
    received(input);
    return 'done';
  });
  const gateway = await testGateway(t.router({ echo }), { mcp: mcp() });
  const [listed] = await listTools(gateway);
  return {
    inputSchema: listed?.inputSchema,
    call: async (args?: object) => {
      const result = await callTool(gateway, 'echo', args);
      const text = result.content[0]?.text ?? '';
      const message = result.isError ? (JSON.parse(text) as { readonly message: string }).message : undefined;
      return { text, message, input: received.mock.calls.at(-1)?.[0] };
    },
  };
}

const text = { type: 'string' };
const a = z.object({ a: z.string() });
const b = z.object({ b: z.string() });
const c = z.object({ c: z.string() });
/** The schema of an object with the property `a`. */
const ofA = { type: 'object', properties: { a: text }, required: ['a'] };
/** The schema of a union, with a sentence about the properties of its members. */
const union = (members: string, properties: object, more: object = {}) => ({
  type: 'object',
  description: `Its properties are those of one of: ${members}.`,
  properties,
  ...more,
});
const recursive: z.ZodType = z.lazy(() => z.union([z.string(), z.array(recursive)]));

it.each<[what: string, chain: readonly z.ZodType[], schema: object, value: unknown]>([
  ['a text', [z.string().min(2)], { type: 'string', minLength: 2 }, 'ab'],
  ['an enumeration', [z.enum(['a', 'b'])], { type: 'string', enum: ['a', 'b'] }, 'b'],
  ['a list', [z.array(z.int())], { type: 'array', items: { type: 'integer' } }, [1, 2]],
  ['null', [z.string().nullable()], { anyOf: [{ type: 'string' }, { type: 'null' }] }, null],
  ['a text or an object', [z.union([z.string(), a])], { anyOf: [text, ofA] }, { a: 'x' }],
  [
    'a chain of texts',
    [z.string().min(2), z.string().max(3)],
    {
      ...text,
      allOf: [
        { ...text, minLength: 2 },
        { ...text, maxLength: 3 },
      ],
    },
    'abc',
  ],
])('%s is the argument "input", and reaches the procedure as it is', async (_what, chain, schema, value) => {
  const { call, inputSchema } = await serve(...chain);
  expect(inputSchema).toEqual({
    type: 'object',
    properties: { input: schema },
    required: ['input'],
    additionalProperties: false,
  });
  expect(await call({ input: value })).toEqual({ text: 'done', message: undefined, input: value });
});

it('a recursive input has its definitions at the top of the schema', async () => {
  const { call, inputSchema } = await serve(recursive);
  expect(inputSchema).toMatchObject({ type: 'object', properties: { input: { $ref: '#/$defs/schema' } } });
  expect(inputSchema).toHaveProperty('$defs.schema');
  expect(await call({ input: ['a', ['b']] })).toMatchObject({ input: ['a', ['b']] });
});

it('a date is sent as a text, and reaches the procedure as a Date', async () => {
  const { call } = await serve(z.date());
  const { input } = await call({ input: '2026-01-31T12:00:00Z' });
  expect(input).toEqual(new Date('2026-01-31T12:00:00Z'));
});

it.each([
  z.string().optional(),
  z.any(),
  z.string().nullish(),
  z.union([z.string(), z.undefined()]),
  z.union([z.union([z.string(), z.void()]), z.int()]),
  z.literal(['a', undefined]),
])('an input that may be absent is no required argument: case %#', async (schema) => {
  const { call, inputSchema } = await serve(schema);
  expect(inputSchema).not.toHaveProperty('required');
  expect(await call()).toMatchObject({ text: 'done', input: undefined });
  expect(await call({})).toMatchObject({ text: 'done', input: undefined });
});

it('the input of a call without arguments is undefined if a member of a union accepts that', async () => {
  const { call } = await serve(z.union([z.void(), a]));
  expect(await call()).toEqual({ text: 'done', message: undefined, input: undefined });
  expect(await call({ a: 'x' })).toMatchObject({ input: { a: 'x' } });
});

it.each<[schema: z.ZodType, args: object | undefined, message: string]>([
  [z.string(), {}, 'input: is required.'],
  [z.string(), undefined, 'input: is required.'],
  [z.string(), { text: 'a' }, 'input: is required.'],
  [z.string(), { input: 5 }, 'input: must be a string, not a number.'],
  [z.array(z.boolean()), { input: [true, 'a'] }, 'input.1: must be true or false, not a string.'],
  [z.tuple([a]), { input: [{}] }, 'input.0.a: is required.'],
  [a, {}, 'a: is required.'],
])('the error of a wrapped input names the argument: case %#', async (schema, args, message) => {
  const { call } = await serve(schema);
  expect(await call(args)).toMatchObject({ message });
});

it.each<[what: string, chain: readonly z.ZodType[], inputSchema: object, args: object | undefined]>([
  ['no input', [], { type: 'object', properties: {}, additionalProperties: false }, undefined],
  [
    'a record',
    [z.record(z.string(), z.int())],
    { type: 'object', properties: {}, additionalProperties: { type: 'integer' } },
    { a: 1 },
  ],
  [
    'a property that one part requires, and a member of the other does not',
    [a, z.union([z.object({ a: z.string().optional(), b: z.string() }), c])],
    union('a, b; a, c', { a: text, b: text, c: text }, { required: ['a'] }),
    { a: 'x', c: 'y' },
  ],
  ['an object of any properties', [z.looseObject({})], { type: 'object', properties: {} }, { a: [1] }],
  [
    'an object or a record',
    [z.union([z.strictObject({ name: z.string() }), z.record(z.string(), z.int())])],
    union(
      'name; any names',
      { name: { anyOf: [text, { type: 'integer' }] } },
      { additionalProperties: { type: 'integer' } },
    ),
    { name: 1, other: 2 },
  ],
  [
    'a strict object or another',
    [z.union([a.strict(), b.strict()])],
    union('a; b', { a: text, b: text }, { additionalProperties: false }),
    { b: 'x' },
  ],
  [
    'an object that keeps others, or another',
    [z.union([a.catchall(z.string()), z.object({ b: z.int() })])],
    union('a; b', { a: text, b: { anyOf: [text, { type: 'integer' }] } }),
    { a: 'x', b: 'y' },
  ],
  ['an object with a part of any value', [a.and(z.any())], ofA, { a: 'x' }],
  [
    'a discriminated union',
    [
      z
        .discriminatedUnion('kind', [
          z.object({ kind: z.literal('number'), value: z.number(), unit: z.string().optional() }),
          z.object({ kind: z.literal('text'), value: z.string() }),
        ])
        .describe('A score.'),
    ],
    {
      type: 'object',
      description:
        'A score. Its properties are those of one of: kind = "number", value, unit (optional); kind = "text", value.',
      properties: {
        kind: { type: 'string', enum: ['number', 'text'] },
        value: { anyOf: [{ type: 'number' }, text] },
        unit: text,
      },
      required: ['kind', 'value'],
    },
    { kind: 'text', value: 'x' },
  ],
  [
    'a union with an input that is absent',
    [z.union([a, z.object({ all: z.literal(true) }), z.undefined()])],
    union('a; all = true', { a: text, all: { type: 'boolean', description: 'Must be true.' } }),
    { all: true },
  ],
  [
    'a union that says all by its properties',
    [z.union([a, z.object({ a: z.boolean() })])],
    { ...ofA, properties: { a: { anyOf: [text, { type: 'boolean' }] } } },
    { a: true },
  ],
  [
    'a chain with a union',
    [c, z.union([a, b])],
    union('c, a; c, b', { c: text, a: text, b: text }, { required: ['c'] }),
    { c: 'x', b: 'y' },
  ],
  [
    'two unions with one name',
    [z.union([a, b]), z.union([z.object({ a: z.boolean() }), c])],
    union('a; a, c; b, a; b, c', { a: { anyOf: [text, { type: 'boolean' }] }, b: text, c: text }),
    { b: 'x', c: 'y' },
  ],
  ['an object that may be null', [a.nullable()], ofA, { a: 'x' }],
  [
    'a union behind a reference',
    [z.lazy(() => z.union([a, b]).meta({ id: 'Either' }))],
    union('a; b', { a: text, b: text }),
    { b: 'x' },
  ],
  [
    'more combinations than a sentence can say',
    [
      z.union(Array.from({ length: 5 }, (_, at) => z.object({ [`a${at}`]: z.string() }))),
      z.union(Array.from({ length: 5 }, (_, at) => z.object({ [`b${at}`]: z.string() }))),
    ],
    {
      type: 'object',
      description: 'The server checks which properties belong together.',
      properties: Object.fromEntries(
        ['a', 'b'].flatMap((letter) => Array.from({ length: 5 }, (_, at) => [`${letter}${at}`, text])),
      ),
    },
    { a0: 'x', b4: 'y' },
  ],
])(
  '%s is not wrapped: the schema has its properties at the top, and no union there',
  async (_what, chain, inputSchema, args) => {
    const served = await serve(...chain);
    expect(served.inputSchema).toEqual(inputSchema);
    expect(await served.call(args)).toMatchObject({ text: 'done', input: args });
  },
);

it('a chain of inputs has the schema of other properties that one of them keeps', async () => {
  const { call, inputSchema } = await serve(a, b.catchall(z.string()));
  expect(inputSchema).toMatchObject({ required: ['a', 'b'], additionalProperties: { type: 'string' } });
  const args = { a: 'x', b: 'y', c: 'z' };
  expect(await call(args)).toMatchObject({ text: 'done', input: args });
});

it('a property that a strict member of a union rejects is possible if another part of an intersection keeps it', async () => {
  const { call, inputSchema } = await serve(
    z
      .union([a.catchall(z.number()), z.strictObject({ b: z.boolean() })])
      .and(z.looseObject({ c: z.string() })),
  );
  expect(inputSchema).toMatchObject({ type: 'object', required: ['c'] });
  expect(inputSchema).not.toHaveProperty('additionalProperties');
  const args = { b: true, c: 'x', e: 'y' };
  expect(await call(args)).toMatchObject({ text: 'done', input: args });
});

it('the description of a union has those of its members', async () => {
  const { inputSchema } = await serve(
    z.union([a.describe('one animal'), z.object({ kind: z.literal('all') }).describe('all animals')]),
  );
  expect(inputSchema).toMatchObject({
    description: 'Its properties are those of one of: a (one animal); kind = "all" (all animals).',
  });
});
