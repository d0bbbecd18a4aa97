import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { boundTexts } from './boundTexts.ts';
import { parseFunction } from './parseFunction.ts';

const T = (...parts: Parameters<typeof z.templateLiteral>[0]) => z.templateLiteral(parts);
const text = z.string();

const tree = z.object({
  link: z.url('no link'),
  get children() {
    return z.array(tree).optional();
  },
});
const chain = z.object({
  name: T(text, z.int()).optional(),
  get next() {
    return chain.optional();
  },
});
const lazy: z.ZodType = z.lazy(() => z.union([T(text, '-', text, '.', text, 'x'), z.array(lazy)]));

/** Schemas with the bounded formats, in every kind of schema. */
const schemas: Readonly<Record<string, z.ZodType>> = {
  'a URL': z.url(),
  'a URL with a message': z.url({ error: 'no link', abort: true }).max(20).startsWith('http'),
  'a normalized URL': z.url({ normalize: true, hostname: /^a/ }),
  'a format as a check': text.min(2).check(z.url()),
  'a coerced text': z.coerce.string().normalize('NFD').max(5),
  'normalized text': text.trim().normalize().toUpperCase(),
  'text with a message': z.string('no text').normalize('NFKC').min(3, 'short'),
  'a record': z.record(text.normalize(), z.url()),
  'a tuple': z.tuple([z.url().optional(), text], T(text, ':', text, ':', z.int())),
  'a union': z.union([z.url(), z.number(), z.object({ a: z.url().nullable() })]),
  'a discriminated union': z.discriminatedUnion('a', [
    z.object({ a: z.literal('x'), b: z.url() }),
    z.strictObject({ a: z.literal('y'), b: z.number() }),
  ]),
  'an intersection': z.object({ a: z.url() }).and(z.object({ b: text.normalize() })),
  'wrapped texts': z.object({
    a: z.url().default('http://a'),
    b: z.url().catch('http://b').readonly(),
    c: z.url().prefault('http://c'),
    d: z.url().exactOptional(),
    e: z.nonoptional(z.url().optional()),
  }),
  'an object with a catchall': z.object({ a: z.number().optional() }).catchall(z.url()),
  'a pipe': z
    .string()
    .pipe(z.url())
    .pipe(z.transform((url) => url.length)),
  'a preprocessed URL': z.preprocess((value) => (Array.isArray(value) ? value[0] : value), z.url()),
  'a codec': z.codec(z.url(), z.string().normalize(), { decode: (url) => `${url}e\u0301`, encode: String }),
  'a recursive object': tree,
  'a recursive lazy schema': lazy,
  'a template of texts': T(text, 'x', text, 'x', text, 'y').refine((value) => value.length < 8, 'long'),
  'a template with a start': T('a', text, '', text, null, text),
  'a template with a message': z.templateLiteral([text, 'xy', text], 'no'),
  'a template in a template': T(T(text, 'x', text), T('x'), T(text, '-'), 'y'),
  'a template in a union in a template': T(z.union([T(text, 'x', text, '-'), z.literal('a')]), 'y'),
  'a template of numbers': T(z.number(), '-', z.int(), '.', text),
  'a template of any parts': T(text.max(3), 'x', z.union([text, z.boolean()]), z.number(), 'y'),
};

const strings = fc.oneof(
  fc.stringMatching(/^[axy.:-]{0,9}$/),
  fc.stringMatching(/^(?:https?:\/\/[ab%:@\u00e9]{1,5}|-?\d[x.-]\d[.:y]?)[axy1.:-]{0,3}$/),
  fc.constantFrom('e\u0301', 'http://\u00fc.example', ' http://a ', 'x-1', 'null'),
);
const { tree: values } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { weight: 3, arbitrary: strings },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, 1, true) },
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.record({ a: tie('tree'), b: tie('tree'), link: strings, children: tie('tree') }, { requiredKeys: [] }),
    fc.dictionary(strings, tie('tree'), { maxKeys: 3 }),
    fc.array(fc.tuple(strings, strings), { maxLength: 2 }).map((entries) => new Map(entries)),
    fc.array(strings, { maxLength: 2 }).map((list) => new Set(list)),
    strings.map((a) => ({ a: 'x', b: a })),
  ),
}));

/** Returns the result of a function, or the issues of its error. */
function outcomeOf(parse: () => unknown): unknown {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof z.ZodError) return { issues: error.issues };
    throw error;
  }
}

describe('boundTexts', () => {
  test.each(Object.entries(schemas))(
    'boundTexts: the schema of %s parses as in zod, interpreted and compiled',
    (_name, schema) => {
      const bounded = boundTexts(schema);
      expect(bounded).not.toBe(schema);
      const compiled = parseFunction(schema, boundTexts);
      fc.assert(
        fc.property(values, (value) => {
          const expected = outcomeOf(() => schema.parse(value));
          expect(outcomeOf(() => z.parse(bounded, value))).toEqual(expected);
          expect(outcomeOf(() => z.parse(bounded, value, { jitless: true }))).toEqual(expected);
          expect(outcomeOf(() => compiled(value))).toEqual(expected);
        }),
      );
    },
  );

  const host = (characters: number, unit = '\u4e2d') =>
    `http://user@${unit.repeat(characters)}:80/${unit.repeat(999)}`;
  const marks = (count: number) => `a${'\u0307'.repeat(count)}b`;
  const compatibleMarks = (count: number) => `a${'\uff9e\u0301'.repeat(count)}`;
  const dashes = (count: number) => [`${'-'.repeat(count)}-1`];
  const letters = (count: number) => `${'a'.repeat(count)}1`;
  const toUrl = text.transform((value) => `http://${value}`);
  const hostProblem = 'must have a host of at most 253 characters, if it is not ASCII';
  const marksProblem = 'must have at most 100 combining marks in a row';
  const placesProblem = 'must be shorter, or have fewer of the characters that separate its parts';

  type ValueOf = (length: number) => unknown;
  const bounds: Readonly<
    Record<string, readonly [z.ZodType, ValueOf, most: number, path: PropertyKey[], problem: string]>
  > = {
    'a host in a list': [z.array(z.url()), (n) => [host(1), host(n)], 253, [1], hostProblem],
    'an escaped host': [z.url(), (n) => host(n, '%41'), 253, [], hostProblem],
    'a host with line breaks': [z.url(), (n) => `ht\ntp:\\${host(n).slice(12)}`, 253, [], hostProblem],
    'a host behind a transform': [toUrl.pipe(z.url()), (n) => '\u4e2d'.repeat(n), 253, [], hostProblem],
    marks: [z.string().trim().normalize(), marks, 100, [], marksProblem],
    'marks of a compatibility form': [z.string().normalize('NFKC'), compatibleMarks, 50, [], marksProblem],
    'separators before a number': [z.array(T(text, '-', z.int())), dashes, 199, [0], placesProblem],
    'no separator': [z.record(text, T(text, z.int())), (n) => ({ a: letters(n) }), 132, ['a'], placesProblem],
    'a text and an e-mail address without a separator that an input has once': [
      z.object({ to: T(text.min(1), z.email()).nullable() }),
      (n) => ({ to: `${'a'.repeat(n)}@a.com` }),
      994,
      ['to'],
      placesProblem,
    ],
    'a chain': [chain, (n) => ({ next: { name: letters(n) } }), 132, ['next', 'name'], placesProblem],
    'a template in a union in a template': [
      z.tuple([text], T(z.union([T(text, '-', text, '.'), z.literal('a')]), 'y')),
      (n) => ['', `${'-'.repeat(n)}.y`],
      198,
      [1],
      placesProblem,
    ],
    'two separators': [
      z.set(T(text, '-', text.max(99), '.', text)),
      (n) => new Set([`${'-'.repeat(20)}a${'.'.repeat(n)}`]),
      10,
      [],
      placesProblem,
    ],
  };
  test.each(Object.entries(bounds))(
    'boundTexts bounds %s: at the limit it is valid, one beyond is an issue at its path',
    (_schema, [schema, valueOf, most, path, problem]) => {
      const parse = parseFunction(schema, boundTexts);
      const valid = valueOf(most);
      expect(outcomeOf(() => parse(valid))).toEqual(outcomeOf(() => schema.parse(valid)));
      expect(outcomeOf(() => parse(valid))).toHaveProperty('value');
      expect(outcomeOf(() => parse(valueOf(most + 1)))).toEqual({
        issues: [{ code: 'custom', path, message: problem }],
      });
    },
  );

  it.each([
    ['a long ASCII host', z.url(), `http://${'a.'.repeat(5000)}b`],
    ['a long path of any characters', z.url(), `https://a/${'\u4e2d'.repeat(5000)}`],
    ['a data URL', z.url(), `data:text/plain,${'\u4e2d@'.repeat(5000)}`],
    ['an address', z.url(), `mailto:${'\u4e2d'.repeat(500)}`],
    ['many letters with a mark', z.string().normalize(), 'e\u0301'.repeat(5000)],
    ['a template with many separators', T(text, '-', text, '-', text, '.md'), `${'a-'.repeat(30)}.md`],
    ['a template of numbers', T(z.int(), '-', z.int(), '-', z.int()), `${'1'.repeat(500)}-2-3`],
    ['a template with one text', T('a', text, 'b'), `a${'b'.repeat(5000)}`],
  ])('boundTexts accepts %s', (_name, schema, value) => {
    expect(outcomeOf(() => parseFunction(schema, boundTexts)(value))).toEqual({ value: schema.parse(value) });
  });

  test.each<[name: string, change: (value: string) => string]>([
    ['lower case', (value) => value.normalize().toLowerCase()],
    ['a prefix', (value) => `x${value.normalize('NFKD').toUpperCase()}`],
    ['letters without marks', (value) => value.normalize('NFD').replaceAll(/\p{M}/gu, '')],
  ])('bounds a function that normalizes texts to %s', (_name, change) => {
    const parse = parseFunction(text.overwrite(change), boundTexts);
    expect(parse(marks(100))).toBe(change(marks(100)));
    expect(outcomeOf(() => parse(marks(101)))).toHaveProperty('issues.0.message', marksProblem);
  });

  test('a function that changes texts may reject, and throw, for texts that it does not expect', async () => {
    const rejecting = text.overwrite((async () => Promise.reject(new Error('unexpected'))) as never);
    const throwing = text.overwrite(() => {
      throw new Error('unexpected');
    });
    for (const schema of [rejecting, throwing]) expect(boundTexts(schema)).toBe(schema);
    // An unhandled rejection fails the run of the tests.
    await setImmediate();
  });

  test('boundTexts bounds an asynchronous parse, and leaves the schema of the router as it was', async () => {
    const own = z.url();
    const schema = z.object({
      a: z
        .string()
        .transform(async (value) => value)
        .pipe(own),
    });
    await expect(parseFunction(schema, boundTexts)({ a: host(254) })).rejects.toThrow(hostProblem);
    expect(own.safeParse(host(254)).success).toBe(true);
  });
});
