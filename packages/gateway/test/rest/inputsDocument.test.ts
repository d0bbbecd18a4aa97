import { inputs } from '@petstore/testing/forms';
import { createGateway, type Gateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { trpcToOpenApi } from 'trpc-gateway/trpc-to-openapi';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, type AnyTRPCProcedure } from '@trpc/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { call } from '@petstore/testing/mcpMessages';
import { post as postOf } from '../startShape.ts';

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
const hundredths = fc.integer({ min: -300, max: 300 }).map((value) => value / 100);
const number = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  hundredths,
  fc.constantFrom(2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1e300, 3.4e38, 3.5e38, 1e-7),
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
const lowered = z.string().toLowerCase();
const longer = z.string().overwrite((value) => `${value}ab`);
const plus10 = (value: number) => value + 10;
const with1 = (items: number[]) => [...items, 1];
const lengthOf = (value: string) => value.trim().length;
const ofA = z.object({ kind: z.literal('a'), b: z.string() });
const ofAb = z.object({ kind: z.literal('ab') });
const ofKinds = fc.record({ kind: fc.constantFrom('a', 'ab', 'c'), b: text }, { requiredKeys: [] });
const member = z.object({ a: z.string().refine((value) => value === 'a') });
const names = z.enum(['a', 'b']);
const anyScalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const ofText = (name: string) => z.object({ [name]: z.string() });

/** Schemas with values, some valid. If the document accepts more, the last member has values both reject. */
const kinds: Readonly<
  Record<string, readonly [z.ZodType, values: fc.Arbitrary<unknown>, rejected?: readonly unknown[]]>
> = {
  'z.string().min()': [z.string().min(2), text],
  'z.string().trim().min().max()': [z.string().trim().min(2).max(3), text, ['', 'a', 5]],
  'z.string().trim().length()': [z.string().trim().length(3), text, ['', 'ab', 5]],
  'z.string().min().trim()': [z.string().min(2).trim(), text],
  'z.string().toLowerCase().regex()': [lowered.regex(/^[a-z]+$/), text, [5]],
  'z.string().toLowerCase().min()': [lowered.min(2), text, [5]],
  'z.string().toUpperCase()': [z.string().toUpperCase().uppercase(), text],
  'z.string().normalize()': [z.string().normalize('NFD').min(2), text, [5]],
  'z.string().overwrite()': [longer.min(3).endsWith('ab'), text, [5]],
  'z.string().includes()': [z.string().includes('a-b'), text],
  'z.string().includes() at a position': [z.string().includes('a-b', { position: 2 }), text, [5]],
  'z.string().startsWith()': [z.string().startsWith('a-b/'), text],
  'z.string().endsWith()': [z.string().endsWith('c'), text],
  'z.string().regex() with i': [z.string().regex(/^ab$/i), text, [5]],
  'z.string().regex() with s': [z.string().regex(/^a.b$/s), text, [5]],
  'z.string().regex() with m': [z.string().regex(/^b$/m), text, [5]],
  'z.string().regex() with u': [z.string().regex(/^\p{L}{2}$/u), text],
  'z.string().regex() with v': [z.string().regex(/^[\p{L}--[a]]$/v), text, [5]],
  'z.string().regex() with v that is a pattern with u': [
    z.string().regex(/^[^\p{L}&&\p{ASCII}]$/v),
    text,
    [5],
  ],
  'z.string().regex() with y': [z.string().regex(/a/y), text, [5]],
  'z.string().regex() with escapes': [z.string().regex(new RegExp(String.raw`^a\-b`)), text, [5]],
  'z.string().regex() of two units': [isTwoUnits, oneOrMoreUnits, [5]],
  'z.string().regex() of any units': [z.string().regex(/^(?:.|b){2,}$/), oneOrMoreUnits, [5]],
  'z.string().regex() of units in a row': [z.string().regex(/^[^a]\S$/), oneOrMoreUnits, [5]],
  'z.string().regex() twice': [z.string().regex(/^a/i).regex(/b$/), text, ['a', 5]],
  'z.email()': [z.email(), text],
  'z.email() of another pattern': [z.email({ pattern: z.regexes.unicodeEmail }), text],
  'z.email().toLowerCase()': [z.email().toLowerCase(), text],
  'z.string().toLowerCase().pipe(z.email())': [lowered.trim().pipe(z.email()), text, [5]],
  'z.string().trim().email()': [z.string().trim().email(), text, [5]],
  'z.url()': [z.url(), text, [5]],
  'z.url().max()': [z.url().max(8), text, [5]],
  'z.url({ normalize }).min()': [z.url({ normalize: true }).min(9), text, [5]],
  'z.httpUrl()': [z.httpUrl(), text, [5]],
  'z.ipv6()': [z.ipv6(), text, [5]],
  'z.cidrv6()': [z.cidrv6(), text, [5]],
  'z.base64url()': [z.base64url(), text, ['+', 5]],
  'z.jwt()': [z.jwt(), text, [5]],
  'z.iso.date()': [z.iso.date(), text],
  'z.iso.datetime()': [z.iso.datetime({ offset: true, local: true }), text],
  'z.stringFormat()': [z.stringFormat('code', /^ab$/i), text, [5]],
  'z.stringbool()': [z.stringbool(), text, [5]],
  'z.templateLiteral()': [z.templateLiteral([z.string(), '-', z.string().min(1)]), text],
  'z.literal()': [z.literal(['a', 5, null, true]), scalar],
  'z.int()': [z.int(), number],
  'z.int32()': [z.int32(), number],
  'z.float32()': [z.float32(), number],
  'z.number() with bounds': [z.number().gt(-5).gte(-5).lt(5).lte(7), number],
  // zod rounds: it takes 535023389495.9295 for a multiple of 0.01, and 2 ** 53 - 1 for one of 3.
  'z.number().multipleOf()': [
    z.number().multipleOf(0.01),
    fc.oneof(fc.double({ min: -20, max: 20, noNaN: true }), hundredths),
    ['a'],
  ],
  'z.number().multipleOf() twice': [
    z.number().multipleOf(2).multipleOf(-3),
    fc.integer({ min: -99, max: 99 }),
    ['a'],
  ],
  'z.number().overwrite().int()': [z.number().overwrite(Math.round).int().min(1), number, ['a']],
  'z.int().overwrite().min()': [z.int().overwrite(plus10).min(5), number, ['a']],
  'z.date()': [z.date().min(new Date('2026-01-01')), text, [5]],
  'z.array().overwrite()': [z.array(z.number()).overwrite(with1).min(2), list(number), [5]],
  'z.tuple()': [z.tuple([z.string(), z.number()]), list(scalar)],
  'z.tuple() with rest': [z.tuple([z.string()], z.number()), list(scalar)],
  'z.tuple() with optional items': [z.tuple([z.string(), z.string().optional()]), list(text)],
  'z.tuple() with caught items': [z.tuple([z.string(), z.string().catch('a')]), list(text)],
  'z.object()': [z.object({ a: z.string(), b: z.number().optional() }), object(scalar)],
  'z.strictObject()': [z.strictObject({ a: z.string().optional() }), object(scalar)],
  'z.looseObject()': [z.looseObject({ a: z.string() }), object(scalar)],
  'z.object().catchall()': [z.object({ a: z.string() }).catchall(z.number()), object(scalar)],
  'z.object() of any values': [z.object({ a: z.any(), b: z.unknown() }), object(anything)],
  'z.record()': [z.record(z.string().min(2), z.string()), object(text)],
  'z.record() of trimmed names': [z.record(z.string().trim().max(1), anyScalar), object(scalar), [5]],
  'z.record() of numbers': [z.record(z.number(), z.string()), object(text)],
  'z.record() of an enum': [z.record(names, z.string()), object(text)],
  'z.record() of an enum with optional values': [z.record(names, z.string().optional()), object(text)],
  'z.record() of an enum with caught values': [z.record(names, z.string().catch('')), object(text)],
  'z.partialRecord()': [z.partialRecord(names, z.string()), object(text)],
  'z.looseRecord()': [z.looseRecord(z.string().regex(/^ab/i), z.string()), object(scalar), [5]],
  'z.union()': [z.union([z.string().trim().max(2), z.number()]), scalar, [true]],
  'z.xor()': [z.xor([member, ofText('a').strict()]), object(text), [5]],
  'z.discriminatedUnion()': [z.discriminatedUnion('kind', [ofA, ofAb]), fc.oneof(object(text), ofKinds)],
  'z.discriminatedUnion() with a fallback': [
    z.discriminatedUnion('kind', [ofA, ofAb], { unionFallback: true }),
    ofKinds,
  ],
  'z.intersection()': [z.intersection(ofText('a'), ofText('b')), object(text)],
  'z.intersection() of strict objects': [
    z.intersection(ofText('a').strict(), ofText('b').strict()),
    fc.record({ a: text, b: text }, { requiredKeys: [] }),
  ],
  'z.intersection() with an optional part': [z.intersection(z.string().optional(), z.string()), text],
  'z.nullish()': [z.string().nullish(), scalar],
  'z.optional()': [z.string().optional(), text],
  'z.nonoptional()': [z.nonoptional(z.string().optional()), text],
  'z.default()': [z.string().default('a'), text],
  'z.prefault()': [z.string().trim().min(1).prefault('a'), text, ['', 5]],
  'z.default() behind a transform': [z.string().transform(Number).default(5), text],
  'z.catch()': [z.string().catch('a'), text],
  'z.preprocess() with a default': [z.preprocess((value) => value ?? 'a', z.string()), text],
  'z.preprocess() without one': [z.preprocess((value) => value, z.string()), text],
  'z.lazy()': [z.lazy(() => z.string().trim().max(2)), text, [5]],
  'z.codec()': [
    z.codec(z.string().max(3), z.number(), { decode: Number, encode: String }),
    text,
    ['abcd', 5],
  ],
  'z.pipe()': [z.string().max(3).transform(lengthOf).pipe(z.number().min(1)), text, ['abcd', 5]],
  'z.transform()': [
    z
      .string()
      .transform(lengthOf)
      .refine((length) => length < 3),
    text,
    [5],
  ],
  'z.coerce.number()': [z.coerce.number(), number],
  'z.coerce.string()': [z.coerce.string().max(3), text],
  'z.record() of an enum with any values': [z.record(names, z.any()), object(anything)],
  'z.any().nullable()': [z.any().nullable(), anything],
  'z.any().readonly()': [z.any().readonly(), anything],
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
const info = { title: 'Kinds', version: '1' };
const presets = { strict: {}, lenient: trpcToOpenApi(info) };
const post = t.procedure.meta({ openapi: { method: 'POST', path: '/kind' } });
const inputOf = (schema: z.ZodType, meta: GatewayMeta = {}) =>
  post
    .meta(meta)
    .input(z.object({ value: schema }))
    .mutation(({ input }): unknown => input);
/** A procedure that returns its input, without the value if that is not set. */
const outputOf = (schema: z.ZodType) =>
  post
    .input(z.object({ value: z.unknown().optional(), isSet: z.boolean().default(true) }))
    .output(z.object({ value: schema }))
    .mutation(({ input: { isSet, value } }) => (isSet ? { value } : {}) as never);

/** Serves a procedure. Returns the validator of a part of its document, and a function that calls it. */
async function serve(kind: AnyTRPCProcedure, part: 'requestBody' | 'responses/200', options: object = {}) {
  const gateway = await createGateway({
    onResponse() {},
    router: t.router({ kind }),
    createContext: () => ({}),
    document: info,
    ...options,
  });
  // OpenAPI 3.1 and JSON Schema 2020-12 read `format` as an annotation. 0.07 is a multiple of 0.01.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, multipleOfPrecision: 9 });
  ajv.addSchema(await gateway.document(), 'document');
  const $ref = `document#/paths/~1kind/post/${part}/content/application~1json/schema`;
  const send = (body: unknown) => gateway.fetch('http://gateway.test/v1/kind', postOf(body));
  const accepts = async (body: unknown) => {
    const { status } = await send(body);
    expect([200, 400]).toContain(status);
    return status === 200;
  };
  return { validate: ajv.compile({ $ref }), send, accepts, gateway };
}

/** Functions that call the procedure over a protocol. They return what it has read, or the code of the error. */
const callersOf = ({ fetch }: Gateway) => {
  const origin = 'http://gateway.test';
  const postTo = async (path: string, body: object) => (await fetch(origin + path, postOf(body))).json();
  const dataOf = ({ error, result }: Envelope) => error?.data.code ?? result?.data;
  return {
    REST: async (input) => {
      const { code, ...read } = (await postTo('/v1/kind', input)) as { readonly code?: string };
      return code ?? read;
    },
    tRPC: async (input) => dataOf((await postTo('/trpc/kind', input)) as Envelope),
    'a batch': async (input) => dataOf(((await postTo('/trpc/kind?batch=1', { 0: input })) as [Envelope])[0]),
    MCP: async (input) => {
      const { content } = (await call({ fetch, origin }, 'kind', input)).message?.result ?? {};
      const { code, ...read } = JSON.parse((content as [{ text: string }])[0].text) as { code?: string };
      return code ?? read;
    },
  } satisfies Record<string, (input: { readonly value: unknown }) => Promise<unknown>>;
};
interface Envelope {
  readonly result?: { readonly data?: unknown };
  readonly error?: { readonly data: { readonly code: string } };
}

const rows = Object.entries(kinds);

it.each(rows)(
  'the document accepts the inputs that the procedure accepts, and no others that JSON Schema can tell from them: %s',
  async (_name, [schema, values, rejected]) => {
    const { accepts, validate } = await serve(inputOf(schema), 'requestBody');
    expect.hasAssertions();
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const isAccepted = await accepts({ value });
        const isValid = validate({ value });
        const isExpected = isAccepted || (isValid && rejected !== undefined);
        const errors = isAccepted ? (validate.errors ?? null) : null;
        expect({ value, isValid, errors }).toEqual({ value, isValid: isExpected, errors: null });
      }),
      { numRuns: inputs(500, 20) },
    );
    for (const value of rejected ?? []) {
      expect([value, validate({ value }), await accepts({ value })]).toEqual([value, false, false]);
    }
  },
);

// Over tRPC, a date needs a transformer.
it.each(rows.filter(([name]) => name !== 'z.date()'))(
  'REST, tRPC, its batches and MCP read the same values, and reject the same ones: %s',
  async (_name, [schema, values]) => {
    const kind = inputOf(schema, { mcp: { description: 'Takes a value.' } });
    const { gateway } = await serve(kind, 'requestBody', { mcp: mcp() });
    const { REST, ...others } = callersOf(gateway);
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const expected = await REST({ value });
        for (const [protocol, read] of Object.entries(others)) {
          expect([protocol, value, await read({ value })]).toEqual([protocol, value, expected]);
        }
      }),
      { numRuns: inputs(250, 10) },
    );
  },
);

it.each(rows)('the document requires an input only if the procedure does: %s', async (_name, [schema]) => {
  for (const [strictness, options] of Object.entries(presets)) {
    const { accepts, validate } = await serve(inputOf(schema), 'requestBody', options);
    expect([strictness, validate({})]).toEqual([strictness, await accepts({})]);
  }
});

// An output with a transform is rejected at start, since it has no JSON Schema.
it.each(rows.filter(([name]) => !name.includes('transform')))(
  'the document describes every output that the procedure returns, and requires one only if it is always returned: %s',
  async (_name, [schema, values]) => {
    const { send, validate } = await serve(outputOf(schema), 'responses/200');
    const isAbsent = async (isSet: boolean) => {
      const response = await send({ isSet });
      return response.status === 200 && !Object.hasOwn((await response.json()) as object, 'value');
    };
    expect(validate({})).toBe((await isAbsent(true)) || (await isAbsent(false)));
    await fc.assert(
      fc.asyncProperty(fc.option(values, { nil: undefined }), async (value) => {
        const response = await send({ value });
        const isWrong = response.status === 200 && !validate(await response.json());
        expect({ value, errors: isWrong ? validate.errors : null }).toEqual({ value, errors: null });
      }),
      { numRuns: inputs(250, 10) },
    );
  },
);
