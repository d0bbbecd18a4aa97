import { inputs } from '@petstore/testing/forms';
import { initTRPC } from '@trpc/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { send } from './messages.ts';

const t = initTRPC.meta<GatewayMeta>().create();

/** Returns the input schema of a tool with chained inputs. */
async function inputSchemaOf(...chain: readonly z.ZodType[]): Promise<Readonly<Record<string, unknown>>> {
  const builder = chain.reduce(
    (all, input) => all.input(input as z.ZodObject) as unknown as typeof all,
    t.procedure.meta({ mcp: { description: 'A tool of the tests.' } }),
  );
  const gateway = await createGateway({
    router: t.router({ tool: builder.query(() => 1) }),
    createContext: () => ({}),
    document: { title: 'Unions', version: '1' },
    mcp: mcp(),
  });
  const { message } = await send({ fetch: gateway.fetch, origin: 'http://localhost' }, 'tools/list');
  const { tools } = (message?.result ?? {}) as {
    readonly tools: readonly { readonly inputSchema: Readonly<Record<string, unknown>> }[];
  };
  return tools[0]?.inputSchema ?? {};
}

const text = { type: 'string' };
const id = z.string();

it.each<[what: string, chain: readonly z.ZodType[], schema: object]>([
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
        kind: { enum: ['number', 'text'] },
        value: { anyOf: [{ type: 'number' }, text] },
        unit: text,
      },
      required: ['kind', 'value'],
    },
  ],
  [
    'a union with an input that is absent',
    [z.union([z.object({ id: z.string() }), z.object({ all: z.literal(true) }), z.undefined()])],
    {
      type: 'object',
      description: 'Its properties are those of one of: id; all = true.',
      properties: { id: text, all: { type: 'boolean', const: true } },
    },
  ],
  [
    'a union that says all by its properties',
    [z.union([z.object({ id: z.string() }), z.object({ id: z.boolean() })])],
    { type: 'object', properties: { id: { anyOf: [text, { type: 'boolean' }] } }, required: ['id'] },
  ],
  [
    'an intersection',
    [z.object({ a: z.string() }).and(z.object({ b: z.string().optional(), a: z.string().optional() }))],
    { type: 'object', properties: { a: expect.anything() as unknown, b: text }, required: ['a'] },
  ],
  [
    'a chain whose later input does not require a property',
    [z.object({ a: z.string() }), z.object({ a: z.string().optional() })],
    { type: 'object', properties: { a: text }, required: ['a'] },
  ],
  [
    'a chain with a union',
    [z.object({ name: z.string() }), z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    {
      type: 'object',
      description: 'Its properties are those of one of: name, a; name, b.',
      properties: { name: text, a: text, b: text },
      required: ['name'],
    },
  ],
  [
    'a union in a union, with one schema for two properties',
    [z.union([z.union([z.object({ id }), z.object({ all: z.literal(true) })]), z.object({ id })])],
    {
      type: 'object',
      description: 'Its properties are those of one of: id; all = true.',
      properties: { id: text, all: { type: 'boolean', const: true } },
    },
  ],
  [
    'two unions with one name',
    [
      z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      z.union([z.object({ a: z.boolean() }), z.object({ c: z.string() })]),
    ],
    {
      type: 'object',
      description: 'Its properties are those of one of: a; a, c; b, a; b, c.',
      properties: { a: { anyOf: [text, { type: 'boolean' }] }, b: text, c: text },
    },
  ],
  [
    'a union that makes a required property optional',
    [
      z.object({ a: z.string() }),
      z.union([z.object({ a: z.string().optional(), b: z.string() }), z.object({ c: z.string() })]),
    ],
    {
      type: 'object',
      description: 'Its properties are those of one of: a, b; a, c.',
      properties: { a: text, b: text, c: text },
      required: ['a'],
    },
  ],
  [
    'an object that may be null',
    [z.object({ a: z.string() }).nullable()],
    { type: 'object', properties: { a: text }, required: ['a'] },
  ],
  [
    'a union behind a reference',
    [
      z.lazy(() =>
        z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]).meta({ id: 'Either' }),
      ),
    ],
    {
      type: 'object',
      description: 'Its properties are those of one of: a; b.',
      properties: { a: text, b: text },
    },
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
  ],
])('the schema of %s has its properties at the top, and no union there', async (_what, chain, schema) => {
  expect(await inputSchemaOf(...chain)).toEqual(schema);
});

/** A schema of a property, with values that it accepts. */
type Property = readonly [schema: z.ZodType, values: readonly unknown[]];

const property = fc.constantFrom<Property>(
  [z.string(), ['', 'a']],
  [z.int().min(3), [3, 7]],
  [z.boolean(), [true, false]],
  [z.literal('x'), ['x']],
  [z.enum(['x', 'y']), ['x', 'y']],
  [z.literal([1, 2]), [1, 2]],
  [z.array(z.string()), [[], ['a']]],
  [z.object({ x: z.int() }), [{ x: 1 }]],
  [z.union([z.string().min(2), z.null()]), ['ab', null]],
  [z.int().nullable(), [1, null]],
  [z.string().optional(), ['a', undefined]],
  [z.int().default(4), [4, undefined]],
  [z.date(), ['2026-01-31T12:00:00.000Z']],
);

/** A schema of objects, with a source of values for it. */
interface Sample {
  readonly schema: z.ZodType;
  readonly value: fc.Arbitrary<object>;
  /**
   * Returns the sets of properties that describe a value: it may have more, which objects ignore. What a union accepts
   * only since a member ignores it, such as a property of another member with a wrong type, is not described.
   */
  readonly describe: (value: object) => readonly (readonly string[])[];
}

const member: fc.Arbitrary<Sample> = fc
  .dictionary(fc.constantFrom('a', 'b', 'c', 'd'), property, { minKeys: 1 })
  .chain((properties) => {
    const shape = Object.fromEntries(Object.entries(properties).map(([name, [each]]) => [name, each]));
    const values = Object.entries(properties).map(([name, [, all]]) => [name, fc.constantFrom(...all)]);
    return fc.constantFrom(z.object, z.strictObject, z.looseObject).map((create) => ({
      schema: create(shape),
      value: fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<unknown>>),
      describe: (value) => (z.object(shape).safeParse(value).success ? [Object.keys(shape)] : []),
    }));
  });

/** Parts that a value satisfies together. */
const both = (parts: readonly Sample[]): Sample => ({
  schema: parts.map(({ schema }) => schema).reduce((left, right) => z.intersection(left, right)),
  value: fc.tuple(...parts.map(({ value }) => value)).map((values) => Object.assign({}, ...values) as object),
  describe: (value) =>
    parts
      .map(({ describe }) => describe(value))
      .reduce((left, right) => left.flatMap((names) => right.map((others) => [...names, ...others]))),
});

const { input } = fc.letrec<{ readonly input: Sample }>((tie) => {
  const parts = fc.array(tie('input'), { minLength: 2, maxLength: 3 });
  return {
    input: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      member,
      parts.map((all) => ({
        schema: z.union(all.map(({ schema }) => schema)),
        value: fc.oneof(...all.map(({ value }) => value)),
        describe: (value: object) => all.flatMap(({ describe }) => describe(value)),
      })),
      parts.map(both),
    ),
  };
});

it('the schema of a tool accepts what its unions, intersections and chains describe', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  let accepted = 0;
  const cases = fc.array(input, { minLength: 1, maxLength: 2 }).chain((chain) =>
    fc.record({
      chain: fc.constant(chain),
      values: fc.array(both(chain).value, { minLength: 5, maxLength: 5 }),
    }),
  );
  const check = fc.asyncProperty(cases, async ({ chain, values }) => {
    const schema = await inputSchemaOf(...chain.map((each) => each.schema));
    expect(schema).toMatchObject({ type: 'object', properties: {} });
    for (const word of ['oneOf', 'anyOf', 'allOf', '$ref']) expect(schema).not.toHaveProperty(word);
    const validate = ajv.compile(schema);
    for (const value of values) {
      const sent = JSON.parse(JSON.stringify(value)) as object;
      const read = reviveDates(sent);
      if (!chain.every((each) => each.schema.safeParse(read).success)) continue;
      const sets = both(chain).describe(read);
      if (!sets.some((names) => Object.keys(read).every((name) => names.includes(name)))) continue;
      accepted += 1;
      expect([validate(sent), validate.errors]).toEqual([true, null]);
    }
  });
  await fc.assert(check, { numRuns: inputs(500) });
  expect(accepted).toBeGreaterThan(50);
});

/** A date is a text in JSON. */
const reviveDates = (value: object) =>
  Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      each === '2026-01-31T12:00:00.000Z' ? new Date(each) : (each as unknown),
    ]),
  );
