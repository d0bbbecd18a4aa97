import { getParseFn } from '@trpc/server/unstable-core-do-not-import';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { boundedSchema, parseFunction } from './parseFunction.ts';

interface Tree {
  readonly children: readonly Tree[];
}
const tree: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(tree) }));

const even = z.number().refine((number) => number % 2 === 0, 'must be even');

const recursive = z.object({
  get children() {
    return z.array(recursive);
  },
});

/** Schemas of all kinds that procedures may have, including kinds that cannot be compiled. */
const schemas: Readonly<Record<string, () => z.ZodType>> = {
  'an object': () => z.object({ a: z.string(), b: z.int().min(-5).optional(), c: z.boolean().default(true) }),
  'a strict object': () => z.strictObject({ a: z.string(), b: z.number() }),
  'a loose object': () => z.looseObject({ b: z.number().nullable() }),
  'an object with a catch-all': () => z.object({ a: z.string() }).catchall(z.number()),
  'an array of objects': () => z.array(z.object({ a: z.string().max(3), b: even.exactOptional() })).max(4),
  'a union': () => z.union([z.string().min(1), even, z.object({ a: z.literal('x') })]),
  'a discriminated union': () =>
    z.discriminatedUnion('a', [
      z.object({ a: z.literal('x'), b: z.number() }),
      z.object({ a: z.literal('y') }),
    ]),
  'an intersection': () => z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
  'an intersection with a strict object, as a member of a union': () =>
    z.union([
      z.intersection(z.object({ a: z.string() }), z.strictObject({ b: z.number() })),
      z.looseObject({ a: z.string() }),
    ]),
  'a record': () => z.record(z.string(), z.number()),
  'a tuple': () => z.tuple([z.string(), z.number()]).rest(z.boolean()),
  'an optional input': () => z.object({ b: z.int().default(20) }).prefault({}),
  'a check of a whole object': () =>
    z.object({ a: z.string(), b: z.number() }).refine(({ a, b }) => a.length === b, {
      path: ['a'],
      message: 'must be as long as b says',
    }),
  'a transform': () => z.object({ a: z.string().transform((text) => text.length), b: z.coerce.number() }),
  'an asynchronous check': () =>
    z.object({ a: z.string().refine(async (text) => text.length < 3, 'too long') }),
  'a recursive lazy schema': () => tree,
  'a lazy schema that returns another one each time': () => {
    const members = [z.string(), z.int()];
    return z.object({ a: z.lazy(() => members.shift() ?? z.boolean()) });
  },
  'a recursive object': () => recursive,
};

const values = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        a: fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('x', 'y'), fc.integer()),
        b: fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constant(null), fc.double()),
        c: fc.oneof(fc.boolean(), fc.string()),
        children: fc.constant([{ children: [] }]),
        ['__proto__']: fc.constant(1),
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: fc.array(fc.record({ a: fc.string({ maxLength: 5 }), b: fc.integer() })) },
  {
    weight: 1,
    arbitrary: fc.record({ a: fc.constantFrom('', 'x', 'xy'), b: fc.integer({ min: 0, max: 2 }) }),
  },
  { weight: 1, arbitrary: fc.tuple(fc.string(), fc.integer(), fc.boolean()) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

/** Formats the result of parsing a value, with the order of its keys. */
async function outcome(parse: (value: unknown) => unknown, value: unknown): Promise<string> {
  try {
    const parsed = await parse(structuredClone(value));
    return `${typeof parsed} ${JSON.stringify(parsed)}`;
  } catch (error) {
    return error instanceof z.ZodError
      ? `rejected ${JSON.stringify(error.issues)}`
      : `failed ${String(error)}`;
  }
}

test.each(Object.entries(schemas))(
  'parseFunction parses %s with the same result as tRPC',
  async (_name, schema) => {
    const [trpcParse, gatewayParse] = [getParseFn(schema()), parseFunction(schema())];
    let [accepted, rejected] = [0, 0];
    const property = fc.asyncProperty(values, async (value) => {
      const expected = await outcome(trpcParse, value);
      if (expected.startsWith('rejected')) rejected += 1;
      else accepted += 1;
      expect(await outcome(gatewayParse, value)).toBe(expected);
    });
    // Repeated until values of both kinds were compared: one of them may be rare.
    for (let round = 0; round < 20 && (round === 0 || Math.min(accepted, rejected) < 3); round += 1) {
      const { seed } = fc.readConfigureGlobal();
      await fc.assert(property, { numRuns: 300, ...(seed !== undefined && { seed: seed + round }) });
    }
    expect(Math.min(accepted, rejected)).toBeGreaterThan(2);
  },
);

const counted = (count: () => void) => (text: string) => {
  count();
  return text;
};

test.each<[string, (count: () => void) => z.ZodType]>([
  ['a transform', (count) => z.string().transform(counted(count))],
  ['a codec', (count) => z.codec(z.string(), z.string(), { decode: counted(count), encode: String })],
])('parseFunction calls %s once, also for a value that is rejected', (_kind, schema) => {
  let times = 0;
  const parse = parseFunction(z.object({ a: z.array(schema(() => (times += 1))), b: z.number() }));
  expect(() => parse({ a: ['x'], b: 'no number' })).toThrow(z.ZodError);
  expect(times).toBe(1);
});

test('parseFunction calls the function of a default only for a missing value', () => {
  let times = 0;
  const parse = parseFunction(z.object({ at: z.number().default(() => (times += 1)) }));
  expect([parse({ at: 7 }), times, parse({}), times]).toEqual([{ at: 7 }, 0, { at: 1 }, 1]);
});

test('parseFunction calls a parser of another library', () => {
  expect(parseFunction((value: unknown) => [value])('x')).toEqual(['x']);
});

const copies = (schema: z.ZodType) =>
  [true, false].map((isInvalid) => boundedSchema(schema, () => isInvalid));
const repeat = (count: number, value: unknown) => Array.from({ length: count }, () => value);

describe('boundedSchema', () => {
  test('boundedSchema accepts and rejects the same large inputs as zod, with the same outputs', () => {
    const large = [
      z.array(z.union([z.string(), z.object({ a: z.array(z.string()) }), z.number()])),
      z.array(z.union([z.array(z.string()), z.array(z.union([z.number(), z.boolean()])), z.null()])),
      z.record(z.string(), z.union([z.array(z.string()), z.number().optional()])),
      z.record(z.union([z.literal('a'), z.string().min(2)]), z.unknown()),
      z.tuple([z.unknown()], z.union([z.string().min(2), z.number(), z.array(z.number())])),
      z.object({ a: z.array(z.string()).catch([]) }).catchall(z.array(z.union([z.number(), z.null()]))),
      z.array(z.string().or(z.number()).pipe(z.transform(String))),
      z.lazy(() => z.array(z.json())),
      z.intersection(
        z.record(z.string().regex(/^a/), z.number()),
        z.record(z.string().regex(/^b/), z.number()),
      ),
    ];
    const leaf = fc.constantFrom<unknown>(1, 2, true, null, 'x', 'long', [1], ['x'], { a: ['x'] }, {});
    const input = fc.tuple(fc.array(leaf, { minLength: 1, maxLength: 4 }), fc.nat(3000), leaf, fc.nat(3));
    fc.assert(
      fc.property(input, fc.constantFrom(...large), ([items, count, last, kind], schema) => {
        const list = [...Array.from({ length: count }, (_, index) => items[index % items.length]), last];
        const named = Object.fromEntries(list.map((item, index) => [`${'ab'[index % 2]}${index}`, item]));
        const value = [list, named, { a: list }, { a: 1, list }][kind];
        const expected = schema.safeParse(value);
        const actual = boundedSchema<z.ZodType>(schema, () => !expected.success).safeParse(value);
        expect(actual.success).toBe(expected.success);
        expect(actual.data).toEqual(expected.data);
        // The issues are the same too, unless the error is cut anyway.
        const issues = expected.error?.issues ?? [];
        const isCut = JSON.stringify(issues).length >= 65_536;
        expect(isCut ? issues : (actual.error?.issues ?? [])).toEqual(issues);
      }),
    );
  });

  test.each<[name: string, schema: z.ZodType, value: unknown]>([
    ['a list', z.array(z.string()), repeat(5000, 1)],
    ['a list whose items have checks', z.array(z.string().min(2)), repeat(5000, '')],
    ['a list with transforms', z.array(z.string().transform(Number)), repeat(5000, 1)],
    ['a tuple', z.tuple([z.string()], z.string()), repeat(5000, 1)],
    [
      'a record',
      z.record(z.string(), z.string()),
      Object.fromEntries(repeat(5000, 1).map((one, at) => [`k${at}`, one])),
    ],
    [
      'an object with a catchall',
      z.object({}).catchall(z.string()),
      Object.fromEntries(repeat(5000, 1).entries()),
    ],
    ['a set', z.set(z.string()), new Set(Array.from({ length: 5000 }, (_, at) => at))],
    ['a map', z.map(z.string(), z.string()), new Map(repeat(5000, 1).map((one, at) => [`k${at}`, one]))],
    ['a set in an object', z.object({ a: z.set(z.string()) }), { a: new Set(repeat(5000, 1).keys()) }],
    ['a list in a map', z.map(z.string(), z.array(z.string())), new Map([['k', repeat(5000, 1)]])],
    ['a list that a lazy schema returns', z.lazy(() => z.array(z.string())), repeat(5000, 1)],
  ])('boundedSchema stops after 1,000 issues of %s, and says so in another one', (_name, schema, value) => {
    for (const copy of copies(schema)) {
      const { error } = copy.safeParse(value);
      const issues = error?.issues ?? [];
      expect(issues.length).toBeLessThan(1010);
      expect(issues.slice(0, 1000)).toEqual(schema.safeParse(value).error?.issues.slice(0, 1000));
      expect(issues.map(({ message }) => message)).toContain(
        'Too many issues: further items were not checked.',
      );
    }
  });

  test('boundedSchema calls no refinement and no transform with items that were not checked', () => {
    const use = vi.fn(() => true);
    const schema = z.array(z.string().min(2)).refine(use).transform(use);
    expect(boundedSchema(schema, () => false).safeParse([...repeat(5000, ''), 1]).success).toBe(false);
    expect(use).not.toHaveBeenCalled();
  });

  test('boundedSchema leaves the schema as it was, also if a refinement throws', () => {
    const item = z.string().refine(() => {
      throw new Error('no');
    });
    const run: unknown = Reflect.get(item._zod, 'run');
    expect(() => boundedSchema(z.array(item), () => false).safeParse(repeat(500, 'x'))).toThrow('no');
    expect(Reflect.get(item._zod, 'run')).toBe(run);
  });

  test('boundedSchema rejects an input that is known to be invalid after 50,000 issues inside unions', () => {
    const schema = z.array(z.union([z.string(), z.number()]));
    const value = [...repeat(100_000, 1), true];
    expect(boundedSchema(schema, () => true).safeParse(value).error?.issues).toMatchObject([
      { path: [], message: 'Too many issues: further items were not checked.' },
    ]);
    expect(boundedSchema(schema, () => false).safeParse(value).error?.issues).toMatchObject([
      { path: [100_000] },
    ]);
  });

  test('boundedSchema limits the issues of an asynchronous parse', async () => {
    const schema = z.object({ list: z.array(z.string()), name: z.string().refine(async () => false) });
    const { error } = await boundedSchema(schema, () => false).safeParseAsync({
      list: repeat(5000, 1),
      name: 'x',
    });
    expect(error?.issues).toHaveLength(1003);
  });
});
