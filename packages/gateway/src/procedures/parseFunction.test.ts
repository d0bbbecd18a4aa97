import { getParseFn } from '@trpc/server/unstable-core-do-not-import';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseFunction } from './parseFunction.ts';

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

describe('parseFunction', () => {
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

test('parseFunction calls a parser of another library', () => {
  expect(parseFunction((value: unknown) => [value])('x')).toEqual(['x']);
});

test('parseFunction parses objects at least twice as fast as zod, by compiled code', () => {
  const schema = z.array(z.object({ a: z.string(), b: z.number() }));
  const objects = Array.from({ length: 100 }, (_, b) => ({ a: 'x', b }));
  const duration = (parse: (value: unknown) => unknown) => {
    const times = Array.from({ length: 15 }, () => {
      const begun = performance.now();
      for (let round = 0; round < 500; round += 1) parse(objects);
      return performance.now() - begun;
    });
    return Math.min(...times);
  };
  // Nine times as fast on an idle machine.
  expect(duration(parseFunction(schema))).toBeLessThan(duration((all) => schema.parse(all)) / 2);
});
