import { createGateway } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/meta';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { initTRPC } from '@trpc/server';
import { type } from 'arktype';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { z } from 'zod';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });

/** A type in three libraries. */
interface Triple {
  readonly zod: z.ZodType;
  readonly valibot: v.GenericSchema;
  readonly arktype: type.Any;
}

const sameTypes: Readonly<Record<string, Triple>> = {
  string: { zod: z.string(), valibot: v.string(), arktype: type('string') },
  short: {
    zod: z.string().min(1).max(3),
    valibot: v.pipe(v.string(), v.minLength(1), v.maxLength(3)),
    arktype: type('1 <= string <= 3'),
  },
  number: { zod: z.number(), valibot: v.number(), arktype: type('number') },
  integer: {
    zod: z.int(),
    valibot: v.pipe(v.number(), v.safeInteger()),
    arktype: type('-9007199254740991 <= number.integer <= 9007199254740991'),
  },
  whole: { zod: z.int(), valibot: v.pipe(v.number(), v.integer()), arktype: type('number.integer') },
  age: {
    zod: z.int().min(0).max(150),
    valibot: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(150)),
    arktype: type('0 <= number.integer <= 150'),
  },
  even: {
    zod: z.number().multipleOf(2),
    valibot: v.pipe(v.number(), v.multipleOf(2)),
    arktype: type('number % 2'),
  },
  boolean: { zod: z.boolean(), valibot: v.boolean(), arktype: type('boolean') },
  choice: { zod: z.enum(['a', 'b']), valibot: v.picklist(['a', 'b']), arktype: type("'a' | 'b'") },
  five: { zod: z.literal(5), valibot: v.literal(5), arktype: type('5') },
  mixed: {
    zod: z.literal(['a', 1, true]),
    valibot: v.union([v.literal('a'), v.literal(1), v.literal(true)]),
    arktype: type("'a' | 1 | true"),
  },
  nullable: {
    zod: z.int().nullable(),
    valibot: v.nullable(v.pipe(v.number(), v.integer())),
    arktype: type('number.integer | null'),
  },
  union: {
    zod: z.union([z.int(), z.boolean()]),
    valibot: v.union([v.pipe(v.number(), v.integer()), v.boolean()]),
    arktype: type('number.integer | boolean'),
  },
  strings: { zod: z.array(z.string()), valibot: v.array(v.string()), arktype: type('string[]') },
  integers: {
    zod: z.array(z.int()).min(1).max(3),
    valibot: v.pipe(v.array(v.pipe(v.number(), v.integer())), v.minLength(1), v.maxLength(3)),
    arktype: type('1 <= number.integer[] <= 3'),
  },
  record: {
    zod: z.record(z.string(), z.number()),
    valibot: v.record(v.string(), v.number()),
    arktype: type('Record<string, number>'),
  },
  object: {
    zod: z.object({ n: z.int(), s: z.string().optional(), on: z.boolean().optional() }),
    valibot: v.object({
      n: v.pipe(v.number(), v.integer()),
      s: v.optional(v.string()),
      on: v.optional(v.boolean()),
    }),
    // By default ArkType keeps unknown properties.
    arktype: type({ '+': 'delete', n: 'number.integer', 's?': 'string', 'on?': 'boolean' }),
  },
};
const typeNames = Object.keys(sameTypes);
const libraries = ['zod', 'valibot', 'arktype'] as const;

/** Strings as people and programs send them. */
const parameterText = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'b',
    'true',
    'false',
    'TRUE',
    '1',
    '5',
    '5.0',
    '-0',
    '1e3',
    '0x10',
    ' 5',
    '007',
    'null',
  ),
  fc.constantFrom(
    '9007199254740993',
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    'NaN',
    'Infinity',
  ),
  fc.integer().map(String),
  // Below 2^53, because zod's integers are safe ones and those of the other libraries need not be.
  fc
    .double()
    .filter((value) => Math.abs(value) < 2 ** 53)
    .map(String),
  fc.string({ maxLength: 6 }),
);
const suffix = fc.constantFrom('', '', '[]', '[0]', '[n]', '[s]', '[on]', '[x]');

async function gatewayOf(library: (typeof libraries)[number]) {
  const routes = typeNames.map((name) => {
    const procedure = (rest: GatewayMeta['openapi'] & object, input: unknown) =>
      t.procedure
        .meta({ openapi: rest })
        .input(input as z.ZodType)
        .output(z.unknown())
        .mutation(({ input: value }) => value);
    const field = sameTypes[name]?.[library];
    const object = {
      zod: () => z.object({ value: (field as z.ZodType).optional() }),
      valibot: () => toStandardJsonSchema(v.object({ value: v.optional(field as v.GenericSchema) })),
      arktype: () => type({ 'value?': field as type.Any }),
    }[library]();
    return [
      [`query_${name}`, procedure({ method: 'DELETE', path: `/${name}` }, object)],
      [`json_${name}`, procedure({ method: 'POST', path: `/${name}` }, object)],
    ] as const;
  });
  return createGateway({
    router: t.router(Object.fromEntries(routes.flat())),
    createContext: () => ({}),
    document: { title: 'Texts', version: '1' },
  });
}

it('a parameter and a JSON value are converted to the same value, or rejected, by schemas of zod, Valibot and ArkType', async () => {
  const gateways = await Promise.all(libraries.map(gatewayOf));
  const call = async (name: string, init: RequestInit, query: string) => {
    const responses = await Promise.all(
      gateways.map(async (gateway) => {
        const response = await gateway.fetch(new Request(`http://pets.example/v1/${name}${query}`, init));
        return [response.status, response.status === 200 ? await response.json() : 'rejected'];
      }),
    );
    for (const received of responses.slice(1)) expect(received).toEqual(responses[0]);
    return responses[0]?.[0];
  };
  const statuses = new Map<unknown, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...typeNames),
      fc.array(fc.tuple(suffix, parameterText), { minLength: 1, maxLength: 3 }),
      async (name, pairs) => {
        const query = new URLSearchParams(
          pairs.map(([end, value]) => [`value${end}`, value] as [string, string]),
        );
        const status = await call(name, { method: 'DELETE' }, `?${query.toString()}`);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      },
    ),
    { numRuns: 400 },
  );
  // The inputs are a mix of valid and invalid ones.
  expect(statuses.get(200)).toBeGreaterThan(20);
  expect(statuses.get(400)).toBeGreaterThan(20);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...typeNames),
      fc.oneof(
        parameterText,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(fc.oneof(fc.integer(), parameterText), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('n', 's', 'on', 'x'), fc.oneof(fc.integer(), parameterText)),
      ),
      async (name, value) => {
        // Valibot and ArkType accept an array as an object.
        fc.pre(!(Array.isArray(value) && ['record', 'object'].includes(name)));
        const headers = { 'content-type': 'application/json' };
        await call(name, { method: 'POST', headers, body: JSON.stringify({ value }) }, '');
      },
    ),
    { numRuns: 300 },
  );
});
