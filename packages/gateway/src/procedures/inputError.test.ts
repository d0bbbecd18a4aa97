import { TRPCError } from '@trpc/server';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { boundIssues, formatIssues, inputError, issuesOf } from './inputError.ts';

// All versions of zod in a process share it, and the one that was imported last has set its own.
beforeAll(() => void z.config(z.locales.en()));

const badRequest = (cause: unknown) => new TRPCError({ code: 'BAD_REQUEST', cause });

describe('formatIssues', () => {
  it.each([
    [20, 20, ''],
    [21, 21, ''],
    [22, 20, '; and 2 more'],
    [23, 20, '; and 3 more'],
  ])('formatIssues of %i issues names the first %i and ends with "%s"', (count, names, rest) => {
    const issues = Array.from({ length: count }, (_, index) => ({ path: [index], message: 'is bad' }));
    const named = Array.from({ length: names }, (_, index) => `${index}: is bad`).join('; ');
    expect(formatIssues(issues)).toBe(`${named}${rest}.`);
  });

  const dateTime = 'must be a date-time (RFC 3339), such as 2026-01-31T12:00:00Z';
  it.each<[message: string, value: unknown, schema: z.ZodType]>([
    ['must be true or false, not a string', 'yes', z.boolean()],
    ['must be an object, not an array', [], z.record(z.string(), z.int())],
    ['must be more than 0', 0, z.number().positive()],
    ['must be less than 1.5', 2, z.number().lt(1.5)],
    ['must be at least -5', -6, z.number().min(-5)],
    ['must have at most 2 items', [1, 2, 3], z.array(z.int()).max(2)],
    ['must have at least 1 item', [], z.array(z.int()).min(1)],
    ['must have exactly 3 characters', 'x', z.string().length(3)],
    ['must be one of 1, "b"', 3, z.literal([1, 'b'])],
    ['Too small: expected ten', 3, z.int().min(10, 'Too small: expected ten')],
    ['No such size', 'x', z.enum(['s'], 'No such size')],
    [dateTime, 'x', z.date()],
    ['must be an integer', 5.5, z.int()],
    ['must be one of "b", "c"', 'd', z.enum(['b', 'c'])],
    ['must be a number, not a boolean, or must be a string, not a boolean', true, z.int().or(z.string())],
    [`${dateTime}, or must be null, not a number`, 1, z.union([z.date(), z.null()])],
    ['Invalid UUID, or must have at least 2 characters', 'x', z.union([z.uuid(), z.string().min(2)])],
    // An integer that is out of bounds: the message is about the bound, not about the union.
    ['must be at most 10', 11, z.union([z.int().max(10), z.literal('all')])],
    [
      'must fit one of its forms: b is required; or c is required, d is required',
      {},
      z.union([z.object({ b: z.int() }), z.object({ c: z.int(), d: z.int() })]),
    ],
    [
      'must fit one of its forms: b is required; or must be a string, not an object',
      {},
      z.union([z.object({ b: z.int() }), z.string()]),
    ],
    [
      'must fit one of its forms: b Invalid input; or c is required',
      { b: {} },
      z.union([
        z.object({ b: z.union([z.object({ d: z.int() }), z.object({ e: z.int() })]) }),
        z.object({ c: z.int() }),
      ]),
    ],
    ['is required', undefined, z.string()],
    ['is required', undefined, z.date()],
    ['is required', undefined, z.union([z.int(), z.literal('all')])],
    ['must be a string', -Infinity, z.string()],
    ['must be "a"', 'b', z.literal('a')],
    ['has to rhyme', 'x', z.string().refine(() => false, { error: 'has to rhyme' })],
    [
      "Invalid discriminator value. Expected 'b' | 'c'",
      { k: 'd' },
      z.discriminatedUnion('k', [z.object({ k: z.literal('b') }), z.object({ k: z.literal('c') })]),
    ],
  ])('formatIssues returns "%s" after the field for zod’s issues with %j', (message, value, schema) => {
    const format = (parent: z.ZodType, input: unknown) =>
      formatIssues(issuesOf(badRequest(parent.safeParse(input).error)));
    const at = message.startsWith('Invalid discriminator') ? '.k' : '';
    expect(format(z.object({ a: schema }), { a: value })).toBe(`a${at}: ${message}.`);
    expect(format(z.tuple([schema]), [value])).toBe(`0${at}: ${message}.`);
    expect(format(schema, value)).toBe(`${at ? 'k' : 'input'}: ${message}.`);
  });

  const custom = 'is written by its author';

  it.each<[code: string, value: unknown, schema: z.ZodType]>([
    ['invalid_type', 'x', z.int(custom)],
    ['invalid_type', undefined, z.int(custom)],
    ['invalid_type', 5.5, z.number().int(custom)],
    ['invalid_type', 'x', z.date({ error: () => custom })],
    ['invalid_value', 'x', z.enum(['a', 'b'], custom)],
    ['too_small', 0, z.int().min(1, custom)],
    ['too_big', 2, z.int().max(1, custom)],
    ['invalid_union', true, z.union([z.int(), z.string()], custom)],
  ])(
    'formatIssues keeps the custom message of an issue %s with %j, in every locale',
    (code, value, schema) => {
      onTestFinished(() => void z.config(z.locales.en()));
      for (const locale of [z.locales.en, z.locales.de]) {
        z.config(locale());
        const { error } = schema.safeParse(value);
        expect(error?.issues).toMatchObject([{ code }]);
        expect(formatIssues(issuesOf(badRequest(error)))).toBe(`input: ${custom}.`);
      }
    },
  );
});

describe('issuesOf', () => {
  it('issuesOf returns the complete issues of zod and of the gateway', () => {
    const { error } = z.object({ a: z.int() }).safeParse({ a: 'x' });
    expect(issuesOf(badRequest(error))).toEqual(error?.issues);
    const own = { code: 'invalid_type', expected: 'int', path: ['a'], message: 'must be an integer' };
    expect(issuesOf(inputError([own]))).toEqual([own]);
  });

  it('issuesOf returns only path and message of another library’s issues, since other members may contain the input', () => {
    const cause = Object.assign(new Error('invalid'), {
      issues: [{ path: [{ key: 'a' }, 0], message: 'is bad', input: 'secret' }, { message: 'is bad too' }],
    });
    expect(issuesOf(badRequest(cause))).toEqual([
      { path: ['a', 0], message: 'is bad' },
      { path: [], message: 'is bad too' },
    ]);
  });

  it('issuesOf returns the issues of an ArkType error, without the leading path in their messages', () => {
    const cause = Object.assign(new Error('a must be a string'), {
      arkErrors: [
        { path: ['a'], message: 'a must be a string (was 5)', problem: 'must be a string (was 5)', data: 5 },
        { path: ['a', 1], message: 'Its author says no.', problem: 'must be a string' },
      ],
    });
    expect(issuesOf(badRequest(cause))).toEqual([
      { path: ['a'], message: 'must be a string (was 5)' },
      { path: ['a', 1], message: 'Its author says no.' },
    ]);
  });

  it('issuesOf returns an empty list for an error that is not about an input', () => {
    const { error } = z.string().safeParse(5);
    expect(issuesOf(new TRPCError({ code: 'CONFLICT', cause: error }))).toEqual([]);
    expect(issuesOf(badRequest(new Error('Bad.')))).toEqual([]);
  });
});

/** A syntax tree: two options that differ in their last member only. */
const Tree: z.ZodType = z.union([
  z.object({
    get a() {
      return Tree;
    },
    k: z.literal('x'),
  }),
  z.object({
    get a() {
      return Tree;
    },
    k: z.literal('y'),
  }),
  z.null(),
]);

function tree(depth: number): unknown {
  let value: unknown = null;
  for (let level = 0; level < depth; level += 1) value = { a: value, k: 'z' };
  return value;
}

const longName = { ['n'.repeat(100_000)]: Array.from({ length: 100 }, () => 5) };
const manyNames = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`name${index}`, 1]));
const manyValues = Array.from({ length: 1000 }, (_, index) => `value${index}`);

const errorOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error as z.ZodError;

describe('boundIssues', () => {
  it.each<[name: string, schema: z.ZodType, value: unknown]>([
    ['one issue', z.string(), 5],
    ['300 issues', z.array(z.string()), Array.from({ length: 300 }, () => 5)],
    ['a union of 4 levels', Tree, tree(4)],
  ])('boundIssues leaves an error of %s as it is', (_name, schema, value) => {
    const error = errorOf(schema, value);
    const { message } = errorOf(schema, value);
    expect(boundIssues(error)).toBe(false);
    expect(error.message).toBe(message);
  });

  it.each<[name: string, schema: z.ZodType, value: unknown]>([
    ['1,000 issues', z.array(z.string()), Array.from({ length: 1000 }, () => 5)],
    ['a union of 10 levels', Tree, tree(10)],
    ['a union of 95 levels', Tree, tree(95)],
    ['100 issues below a name of 100,000 characters', z.record(z.string(), z.array(z.string())), longName],
    ['an unknown property of 100,000 characters', z.strictObject({}), longName],
    ['10,000 unknown properties', z.strictObject({}), manyNames],
    ['10,000 invalid keys', z.record(z.uuid(), z.number()), manyNames],
    ['an enum of 1,000 values', z.array(z.enum(manyValues)), Array.from({ length: 100 }, () => 'x')],
  ])(
    'boundIssues bounds an error of %s to 160 KB, with its message, flattenError, treeifyError and formatError',
    (_name, schema, value) => {
      const error = errorOf(schema, value);
      expect(boundIssues(error)).toBe(true);
      const texts = [
        error.message,
        JSON.stringify(z.flattenError(error)),
        JSON.stringify(z.treeifyError(error)),
        JSON.stringify(z.formatError(error)),
        z.prettifyError(error),
      ];
      expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(160_000);
    },
  );

  it('boundIssues counts the issues of other libraries only, since their values are not in a message', () => {
    const issues = (count: number) => Array.from({ length: count }, () => ({ message: 'x'.repeat(1000) }));
    const errors = [1000, 1001].map((count) => Object.assign(new Error('x'), { issues: issues(count) }));
    expect(errors.map((error) => boundIssues(error))).toEqual([false, true]);
    expect(errors.map((error) => error.issues.length)).toEqual([1000, 21]);
    expect(errors[1]?.issues.at(-1)?.message).toBe('981 more issues are not listed');
  });

  it('boundIssues keeps 20 issues, shortened, if a single one is too large', () => {
    const name = 'n'.repeat(100_000);
    const error = errorOf(z.record(z.string(), z.array(z.string())), {
      [name]: Array.from({ length: 30 }, () => 5),
    });
    boundIssues(error);
    expect(error.issues).toHaveLength(21);
    expect(error.issues[19]).toEqual({
      code: 'invalid_type',
      expected: 'string',
      path: [`${'n'.repeat(200)}…`, 19],
      message: 'Invalid input: expected string, received number',
    });
  });
});
