import { inputs } from '@petstore/testing/forms';
import { createGateway } from 'trpc-gateway';
import { trpcToOpenApi } from 'trpc-gateway/trpc-to-openapi';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { OpenApiDocument } from '../openApi.ts';

// The document must accept what the procedure accepts and reject what it rejects, as far as JSON Schema has words for it.

const t = initTRPC.meta<GatewayMeta>().create();

/** Texts at the edges of formats and patterns, and in two UTF-16 units per character. */
const edges = [
  ...[
    'a A ab AB aB abc abcd a-b/c İ 😀 😀😀 é 5 -5 1.5 a@b.de ä@b.de A@B.DE a@b .a@b.de true YES 2026-01-01',
    '2026-01-01T00:00:00Z 2026-01-01T00:00:00+01:00 2026-01-01T00:00 12:30 12:30:00 P1D P1Y2D PT1.5S',
    'PT1,5S P1W 192.0.2.1 ::1 ::ffff:192.0.2.1 ::ffff:192.0.2.1/96 10.0.0.0/8 http://a http://ä.de/ö',
    'HTTP://A.de mailto:a https://a.de YWI= YWI YQ== ____ 550e8400-e29b-41d4-a716-446655440000',
    '550E8400-E29B-41D4-A716-446655440000 +491701234567 00:1A:2B:3C:4D:5E DE89370400440532013000',
    'example.com localhost. 01ARZ3NDEKTSV4RRFFQ69G5FAV',
  ].flatMap((line) => line.split(' ')),
  '',
  ' ',
  ' abc ',
  'a b',
  '\n\na-b',
  'a\nb',
  ' a@b.de ',
  ' http://a ',
  'http://a/b c',
  '4111 1111 1111 1111',
  'a'.repeat(32),
  'A'.repeat(21),
];
const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...edges) },
  fc.string({ unit: fc.constantFrom('a', 'B', '1', ' ', '😀', '\n', '-', '@', '.'), maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 5 }),
);
/** Often a character of two UTF-16 units, which the other texts are in one of 100 cases only. */
const oneOrMoreUnits = fc.oneof(fc.constant('😀'), text);
const number = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -300, max: 300 }).map((value) => value / 100),
  fc.constantFrom(
    2 ** 31,
    2 ** 32,
    -(2 ** 31) - 1,
    2 ** 53 - 1,
    2 ** 53,
    -(2 ** 53),
    1e300,
    3.4e38,
    3.5e38,
    1e-7,
  ),
);
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const list = (item: fc.Arbitrary<unknown>) => fc.array(item, { maxLength: 5 });
const object = (value: fc.Arbitrary<unknown>) =>
  fc.dictionary(
    fc.oneof(fc.constantFrom('a', 'b', 'c', 'kind', '1', '-1.5', '1e5', 'ab', 'ABC', 'A@B.DE'), text),
    value,
    {
      maxKeys: 4,
    },
  );
const anything = fc.oneof(
  scalar,
  list(scalar),
  object(scalar),
  object(fc.oneof(list(scalar), object(scalar))),
);

const isTwoUnits = z.string().regex(/^.{2}$/);
const member = z.object({ a: z.string().refine((value) => value === 'a') });

/** Schemas by name, with values of which some are valid. */
const kinds: Readonly<Record<string, readonly [z.ZodType, fc.Arbitrary<unknown>]>> = {
  'z.string().min()': [z.string().min(2), text],
  'z.string().max()': [z.string().max(2), text],
  'z.string().length()': [z.string().length(2), text],
  'z.string().trim().min().max()': [z.string().trim().min(2).max(3), text],
  'z.string().trim().length()': [z.string().trim().length(3), text],
  'z.string().min().trim()': [z.string().min(2).trim(), text],
  'z.string().toLowerCase().regex()': [
    z
      .string()
      .toLowerCase()
      .regex(/^[a-z]+$/),
    text,
  ],
  'z.string().toLowerCase().min()': [z.string().toLowerCase().min(2), text],
  'z.string().toUpperCase()': [z.string().toUpperCase().uppercase(), text],
  'z.string().normalize()': [z.string().normalize('NFD').min(2), text],
  'z.string().overwrite()': [
    z
      .string()
      .overwrite((value) => `${value}ab`)
      .min(3)
      .endsWith('ab'),
    text,
  ],
  'z.string().includes()': [z.string().includes('a-b'), text],
  'z.string().includes() at a position': [z.string().includes('a-b', { position: 2 }), text],
  'z.string().startsWith()': [z.string().startsWith('a-b/'), text],
  'z.string().endsWith()': [z.string().endsWith('c'), text],
  'z.string().regex() with i': [z.string().regex(/^ab$/i), text],
  'z.string().regex() with s': [z.string().regex(/^a.b$/s), text],
  'z.string().regex() with m': [z.string().regex(/^b$/m), text],
  'z.string().regex() with u': [z.string().regex(/^\p{L}{2}$/u), text],
  'z.string().regex() with v': [z.string().regex(/^[\p{L}--[a]]$/v), text],
  'z.string().regex() with v that is a pattern with u': [z.string().regex(/^[^\p{L}&&\p{ASCII}]$/v), text],
  'z.string().regex() with y': [z.string().regex(/a/y), text],
  'z.string().regex() with escapes': [z.string().regex(new RegExp(String.raw`^a\-b`)), text],
  'z.string().regex() of two units': [isTwoUnits, oneOrMoreUnits],
  'z.string().regex() of any units': [z.string().regex(/^(?:.|b){2,}$/), oneOrMoreUnits],
  'z.string().regex() of units in a row': [z.string().regex(/^[^a]\S$/), oneOrMoreUnits],
  'z.string().regex() with look-behind': [z.string().regex(/(?<=a)b/), text],
  'z.string().regex() twice': [z.string().regex(/^a/i).regex(/b$/), text],
  'z.email()': [z.email(), text],
  'z.email() of another pattern': [z.email({ pattern: z.regexes.unicodeEmail }), text],
  'z.email().toLowerCase()': [z.email().toLowerCase(), text],
  'z.string().toLowerCase().pipe(z.email())': [z.string().trim().toLowerCase().pipe(z.email()), text],
  'z.string().trim().email()': [z.string().trim().email(), text],
  'z.url()': [z.url(), text],
  'z.url().max()': [z.url().max(8), text],
  'z.url({ normalize }).min()': [z.url({ normalize: true }).min(9), text],
  'z.httpUrl()': [z.httpUrl(), text],
  'z.uuid()': [z.uuid(), text],
  'z.ipv6()': [z.ipv6(), text],
  'z.cidrv6()': [z.cidrv6(), text],
  'z.base64url()': [z.base64url(), text],
  'z.emoji()': [z.emoji(), text],
  'z.jwt()': [z.jwt(), text],
  'z.iso.date()': [z.iso.date(), text],
  'z.iso.datetime()': [z.iso.datetime({ offset: true, local: true }), text],
  'z.stringFormat()': [z.stringFormat('code', /^ab$/i), text],
  'z.stringbool()': [z.stringbool(), text],
  'z.templateLiteral()': [z.templateLiteral([z.string(), '-', z.string().min(1)]), text],
  'z.enum()': [z.enum(['a', 'AB']), text],
  'z.literal()': [z.literal(['a', 5, null, true]), scalar],
  'z.number()': [z.number(), number],
  'z.int()': [z.int(), number],
  'z.int32()': [z.int32(), number],
  'z.float32()': [z.float32(), number],
  'z.number() with bounds': [z.number().gt(-5).gte(-5).lt(5).lte(7), number],
  // zod rounds: it takes 535023389495.9295 for a multiple of 0.01, and 2 ** 53 - 1 for one of 3.
  'z.number().multipleOf()': [
    z.number().multipleOf(0.01),
    fc.oneof(
      fc.double({ min: -20, max: 20, noNaN: true }),
      fc.integer({ min: -300, max: 300 }).map((value) => value / 100),
    ),
  ],
  'z.number().multipleOf() twice': [
    z.number().multipleOf(2).multipleOf(-3),
    fc.integer({ min: -99, max: 99 }),
  ],
  'z.number().overwrite().int()': [z.number().overwrite(Math.round).int().min(1), number],
  'z.int().overwrite().min()': [
    z
      .int()
      .overwrite((value) => value + 10)
      .min(5),
    number,
  ],
  'z.boolean()': [z.boolean(), scalar],
  'z.date()': [z.date().min(new Date('2026-01-01')), text],
  'z.array()': [z.array(z.number()).min(1).max(3), list(number)],
  'z.array().overwrite()': [
    z
      .array(z.number())
      .overwrite((items) => [...items, 1])
      .min(2),
    list(number),
  ],
  'z.tuple()': [z.tuple([z.string(), z.number()]), list(scalar)],
  'z.tuple() with rest': [z.tuple([z.string()], z.number()), list(scalar)],
  'z.tuple() with optional items': [z.tuple([z.string(), z.string().optional()]), list(text)],
  'z.tuple() with caught items': [z.tuple([z.string(), z.string().catch('a')]), list(text)],
  'z.object()': [z.object({ a: z.string(), b: z.number().optional() }), object(scalar)],
  'z.strictObject()': [z.strictObject({ a: z.string().optional() }), object(scalar)],
  'z.looseObject()': [z.looseObject({ a: z.string() }), object(scalar)],
  'z.object().catchall()': [z.object({ a: z.string() }).catchall(z.number()), object(scalar)],
  'z.object().partial()': [z.object({ a: z.string(), b: z.number() }).partial(), object(scalar)],
  'z.object() of any values': [z.object({ a: z.any(), b: z.unknown() }), object(anything)],
  'z.record()': [z.record(z.string().min(2), z.string()), object(text)],
  'z.record() of trimmed names': [z.record(z.string().trim().max(1), scalarSchema()), object(scalar)],
  'z.record() of numbers': [z.record(z.number(), z.string()), object(text)],
  'z.record() of an enum': [z.record(z.enum(['a', 'b']), z.string()), object(text)],
  'z.record() of an enum with optional values': [
    z.record(z.enum(['a', 'b']), z.string().optional()),
    object(text),
  ],
  'z.record() of an enum with caught values': [
    z.record(z.enum(['a', 'b']), z.string().catch('')),
    object(text),
  ],
  'z.record() of an enum with any values': [z.record(z.enum(['a', 'b']), z.any()), object(anything)],
  'z.partialRecord()': [z.partialRecord(z.enum(['a', 'b']), z.string()), object(text)],
  'z.looseRecord()': [z.looseRecord(z.string().regex(/^ab/i), z.string()), object(scalar)],
  'z.union()': [z.union([z.string().trim().max(2), z.number()]), scalar],
  'z.xor()': [z.xor([member, z.object({ a: z.string() }).strict()]), object(text)],
  'z.discriminatedUnion()': [
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), b: z.string() }),
      z.object({ kind: z.literal('ab') }),
    ]),
    fc.oneof(
      object(text),
      fc.record({ kind: fc.constantFrom('a', 'ab', 'c'), b: text }, { requiredKeys: [] }),
    ),
  ],
  'z.discriminatedUnion() with a fallback': [
    z.discriminatedUnion(
      'kind',
      [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b'), a: z.string() })],
      {
        unionFallback: true,
      },
    ),
    fc.record({ kind: fc.constantFrom('a', 'b'), a: text }, { requiredKeys: [] }),
  ],
  'z.intersection()': [
    z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
    object(text),
  ],
  'z.intersection() of strict objects': [
    z.intersection(z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })),
    fc.record({ a: text, b: text }, { requiredKeys: [] }),
  ],
  'z.intersection() with an optional part': [z.intersection(z.string().optional(), z.string()), text],
  'z.nullable()': [z.string().max(2).nullable(), scalar],
  'z.nullish()': [z.string().nullish(), scalar],
  'z.optional()': [z.string().optional(), text],
  'z.nonoptional()': [z.nonoptional(z.string().optional()), text],
  'z.default()': [z.string().default('a'), text],
  'z.prefault()': [z.string().trim().min(1).prefault('a'), text],
  'z.default() behind a transform': [z.string().transform(Number).default(5), text],
  'z.catch()': [z.string().catch('a'), text],
  'z.preprocess() with a default': [z.preprocess((value) => value ?? 'a', z.string()), text],
  'z.preprocess() without one': [z.preprocess((value) => value, z.string()), text],
  'z.lazy()': [z.lazy(() => z.string().trim().max(2)), text],
  'z.codec()': [z.codec(z.string().max(3), z.number(), { decode: Number, encode: String }), text],
  'z.pipe()': [
    z
      .string()
      .max(3)
      .transform((value) => value.length)
      .pipe(z.number().min(1)),
    text,
  ],
  'z.transform()': [
    z
      .string()
      .transform((value) => value.trim())
      .refine((value) => value.length < 3),
    text,
  ],
  'z.coerce.number()': [z.coerce.number(), number],
  'z.coerce.string()': [z.coerce.string().max(3), text],
  'z.json()': [z.json(), anything],
  'z.any().readonly()': [z.any().readonly(), anything],
  'z.any().nullable()': [z.any().nullable(), anything],
  'a recursive object': [
    z.object({
      a: z.string(),
      get b() {
        return z.array(member).optional();
      },
    }),
    object(anything),
  ],
};
function scalarSchema() {
  return z.union([z.string(), z.number(), z.boolean(), z.null()]);
}
const entries = Object.entries(kinds);

const router = t.router(
  Object.fromEntries(
    entries.map(([, [schema]], index) => [
      `kind${index}`,
      t.procedure
        .meta({ openapi: { method: 'POST', path: `/kind${index}` } })
        .input(z.object({ value: schema }))
        .mutation(() => 1),
    ]),
  ),
);
/** The same schemas as outputs, except those that are rejected at start, since JSON Schema has no outputs of transforms. */
const returned = t.router(
  Object.fromEntries(
    entries.flatMap(([name, [schema]], index) =>
      /transform/.test(name)
        ? []
        : [
            [
              `kind${index}`,
              t.procedure
                .meta({ openapi: { method: 'POST', path: `/kind${index}` } })
                .input(z.object({ value: z.unknown().optional(), isSet: z.boolean().default(true) }))
                .output(z.object({ value: schema }))
                .mutation(({ input: { isSet, value } }) => (isSet ? { value } : {}) as never),
            ],
          ],
    ),
  ),
);
const create = (served: AnyTRPCRouter, options: object = {}) =>
  createGateway({
    onResponse() {},
    router: served,
    createContext: () => ({}),
    document: { title: 'Kinds', version: '1' },
    ...options,
  });
const gateways = {
  strict: await create(router),
  lenient: await create(router, trpcToOpenApi({ title: 'Kinds', version: '1' })),
  output: await create(returned),
};

type Strictness = keyof typeof gateways;
const requestBody = 'requestBody';
const ok = 'responses/200';
async function validatorOf(strictness: Strictness, index: number, where = requestBody) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the suites' own type of a document
  const document = (await gateways[strictness].document()) as unknown as OpenApiDocument;
  // OpenAPI 3.1 and JSON Schema 2020-12 read `format` as an annotation. 0.07 is a multiple of 0.01.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, multipleOfPrecision: 9 });
  ajv.addSchema(document, 'document');
  return ajv.compile({
    $ref: `document#/paths/~1kind${index}/post/${where}/content/application~1json/schema`,
  });
}

async function send(strictness: Strictness, index: number, body: unknown): Promise<Response> {
  return await gateways[strictness].fetch(
    new Request(`http://gateway.test/v1/kind${index}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );
}

async function accepts(strictness: Strictness, index: number, body: unknown): Promise<boolean> {
  const { status } = await send(strictness, index, body);
  expect([200, 400]).toContain(status);
  return status === 200;
}

/**
 * Kinds of which the document accepts more than the procedure, since JSON Schema has no word for a part of the schema, each
 * with values that it rejects all the same.
 */
const looser: Readonly<Record<string, readonly unknown[]>> = {
  ...Object.fromEntries(
    [
      'z.string().toLowerCase().regex()',
      'z.string().toLowerCase().min()',
      'z.string().normalize()',
      'z.string().overwrite()',
      'z.string().includes() at a position',
      'z.string().regex() with i',
      'z.string().regex() with s',
      'z.string().regex() with m',
      'z.string().regex() with v',
      'z.string().regex() with v that is a pattern with u',
      'z.string().regex() with y',
      'z.string().regex() with escapes',
      'z.string().regex() of two units',
      'z.string().regex() of any units',
      'z.string().regex() of units in a row',
      'z.string().toLowerCase().pipe(z.email())',
      'z.string().trim().email()',
      'z.url()',
      'z.url().max()',
      'z.url({ normalize }).min()',
      'z.httpUrl()',
      'z.ipv6()',
      'z.cidrv6()',
      'z.jwt()',
      'z.stringFormat()',
      'z.stringbool()',
      'z.date()',
      'z.array().overwrite()',
      'z.record() of trimmed names',
      'z.looseRecord()',
      'z.xor()',
      'z.lazy()',
      'z.transform()',
    ].map((name) => [name, [5]]),
  ),
  'z.string().trim().min().max()': ['', 'a', 5],
  'z.string().trim().length()': ['', 'ab', 5],
  'z.string().regex() twice': ['a', 5],
  'z.number().multipleOf()': ['a'],
  // With zod 4.5.4, whose document has one of the two steps, and texts of any length.
  'z.number().multipleOf() twice': ['a'],
  'z.base64url()': ['+', 5],
  'z.number().overwrite().int()': ['a'],
  'z.int().overwrite().min()': ['a'],
  'z.union()': [true],
  'z.prefault()': ['', 5],
  'z.codec()': ['abcd', 5],
  'z.pipe()': ['abcd', 5],
};

it.each(entries.map(([name, [, values]], index) => [name, index, values] as const))(
  'the document accepts the inputs that the procedure accepts, and no others that JSON Schema can tell from them: %s',
  async (name, index, values) => {
    const validate = await validatorOf('strict', index);
    expect.hasAssertions();
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const isAccepted = await accepts('strict', index, { value });
        const isValid = validate({ value });
        const isExpected = isAccepted || (isValid && Object.hasOwn(looser, name));
        const errors = isAccepted ? (validate.errors ?? null) : null;
        expect({ value, isValid, errors }).toEqual({ value, isValid: isExpected, errors: null });
      }),
      { numRuns: inputs(500, 20) },
    );
    for (const value of looser[name] ?? []) {
      expect([value, validate({ value }), await accepts('strict', index, { value })]).toEqual([
        value,
        false,
        false,
      ]);
    }
  },
);

it.each(
  entries.flatMap(([name], index) =>
    (['strict', 'lenient'] as const).map((strictness) => [name, strictness, index] as const),
  ),
)(
  'the document requires %s, with strictness: %s, only if the procedure does',
  async (_name, strictness, index) => {
    const validate = await validatorOf(strictness, index);
    expect(validate({})).toBe(await accepts(strictness, index, {}));
  },
);

const outputs = entries.flatMap(([name, [, values]], index) =>
  Object.hasOwn(returned._def.procedures, `kind${index}`) ? [[name, index, values] as const] : [],
);

it.each(outputs)(
  'the document requires %s of a response only if the procedure always returns it',
  async (_name, index) => {
    const validate = await validatorOf('output', index, ok);
    const isAbsent = async (isSet: boolean) => {
      const response = await send('output', index, { isSet });
      return response.status === 200 && !Object.hasOwn((await response.json()) as object, 'value');
    };
    expect(validate({})).toBe((await isAbsent(true)) || (await isAbsent(false)));
  },
);

it.each(outputs)(
  'the document describes every output that the procedure returns: %s',
  async (_name, index, values) => {
    const validate = await validatorOf('output', index, ok);
    expect.hasAssertions();
    await fc.assert(
      fc.asyncProperty(fc.option(values, { nil: undefined }), async (value) => {
        const response = await send('output', index, { value });
        const isWrong = response.status === 200 && !validate(await response.json());
        expect({ value, errors: isWrong ? validate.errors : null }).toEqual({ value, errors: null });
      }),
      { numRuns: inputs(250, 10) },
    );
  },
);
