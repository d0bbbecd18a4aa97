import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { boundedSchema, parseFunction } from './parseFunction.ts';

interface Tree {
  readonly children: readonly Tree[];
}
const tree: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(tree) }));

const recursive = z.object({
  get children() {
    return z.array(recursive);
  },
});

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

async function outcomeOf(parse: (value: unknown) => unknown, value: unknown): Promise<unknown> {
  try {
    return await parse(value);
  } catch (error) {
    return (error as z.ZodError).issues;
  }
}

const unionOfIntersection = () => {
  const both = z.intersection(z.object({ a: z.string() }), z.strictObject({ b: z.number() }));
  return z.union([both, z.looseObject({ a: z.string() })]);
};
/** It returns another schema each time. */
const unsteady = () => {
  const members = [z.string(), z.int()];
  return z.object({ a: z.lazy(() => members.shift() ?? z.boolean()) });
};

test.each([
  ['an intersection with a strict object in a union', unionOfIntersection],
  ['a lazy schema', unsteady],
])('parseFunction parses by %s as zod does', async (_kind, schema) => {
  const [parse, expected] = [parseFunction(schema()), schema()];
  for (const value of [
    { a: 'x', b: 1 },
    { a: 'x', b: 1, c: 2 },
    { a: 'x', b: 'y' },
    { a: 'x' },
    { b: 1 },
    { a: 1 },
    { a: true },
    {},
  ]) {
    expect(await outcomeOf(parse, value)).toEqual(await outcomeOf((sent) => expected.parse(sent), value));
  }
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
