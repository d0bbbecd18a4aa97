import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { boundedSchema } from './boundedSchema.ts';

const copies = (schema: z.ZodType) =>
  [true, false].map((isInvalid) => boundedSchema(schema, () => isInvalid));
const repeat = (count: number, value: unknown) => Array.from({ length: count }, () => value);

describe('boundedSchema', () => {
  it('boundedSchema accepts and rejects the same large inputs as zod, with the same outputs', () => {
    const schemas = [
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
      fc.property(input, fc.constantFrom(...schemas), ([items, count, last, kind], schema) => {
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

  it.each<[name: string, schema: z.ZodType, value: unknown]>([
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

  it('boundedSchema calls no refinement and no transform with items that were not checked', () => {
    const use = vi.fn(() => true);
    const schema = z.array(z.string().min(2)).refine(use).transform(use);
    expect(boundedSchema(schema, () => false).safeParse([...repeat(5000, ''), 1]).success).toBe(false);
    expect(use).not.toHaveBeenCalled();
  });

  it('boundedSchema leaves the schema as it was, also if a refinement throws', () => {
    const item = z.string().refine(() => {
      throw new Error('no');
    });
    const run: unknown = Reflect.get(item._zod, 'run');
    expect(() => boundedSchema(z.array(item), () => false).safeParse(repeat(500, 'x'))).toThrow('no');
    expect(Reflect.get(item._zod, 'run')).toBe(run);
  });

  it('boundedSchema rejects an input that is known to be invalid after 50,000 issues inside unions', () => {
    const schema = z.array(z.union([z.string(), z.number()]));
    const value = [...repeat(100_000, 1), true];
    expect(boundedSchema(schema, () => true).safeParse(value).error?.issues).toMatchObject([
      { path: [], message: 'Too many issues: further items were not checked.' },
    ]);
    expect(boundedSchema(schema, () => false).safeParse(value).error?.issues).toMatchObject([
      { path: [100_000] },
    ]);
  });

  it('boundedSchema limits the issues of an asynchronous parse', async () => {
    const schema = z.object({ list: z.array(z.string()), name: z.string().refine(async () => false) });
    const { error } = await boundedSchema(schema, () => false).safeParseAsync({
      list: repeat(5000, 1),
      name: 'x',
    });
    expect(error?.issues).toHaveLength(1003);
  });
});
