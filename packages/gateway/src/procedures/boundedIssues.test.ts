import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { boundIssues, omittedFrom } from './boundedIssues.ts';

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
    expect(omittedFrom(error.issues)).toBeUndefined();
  });

  it.each<[name: string, schema: z.ZodType, value: unknown]>([
    ['1,000 issues', z.array(z.string()), Array.from({ length: 1000 }, () => 5)],
    ['a union of 10 levels', Tree, tree(10)],
    ['a union of 95 levels', Tree, tree(95)],
    [
      '100 issues below a name of 100,000 characters',
      z.record(z.string(), z.array(z.string())),
      { ['n'.repeat(100_000)]: Array.from({ length: 100 }, () => 5) },
    ],
    ['an unknown property of 100,000 characters', z.strictObject({}), { ['n'.repeat(100_000)]: 1 }],
    [
      '10,000 unknown properties',
      z.strictObject({}),
      Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`name${index}`, 1])),
    ],
    [
      '10,000 invalid keys',
      z.record(z.uuid(), z.number()),
      Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`name${index}`, 1])),
    ],
    [
      'an enum of 1,000 values',
      z.array(z.enum(Array.from({ length: 1000 }, (_, index) => `value${index}`))),
      Array.from({ length: 100 }, () => 'x'),
    ],
  ])(
    'boundIssues bounds an error of %s to 160 KB and 50 ms, with its message, flattenError, treeifyError and formatError',
    (_name, schema, value) => {
      let ms = Infinity;
      // Processor time includes that of the garbage collector and of cores shared with others: the least of 4 counts.
      for (let attempt = 0; attempt < 4 && ms >= 50; attempt += 1) {
        const error = errorOf(schema, value);
        const before = process.cpuUsage();
        expect(boundIssues(error)).toBe(true);
        const texts = [
          error.message,
          JSON.stringify(z.flattenError(error)),
          JSON.stringify(z.treeifyError(error)),
          JSON.stringify(z.formatError(error)),
          z.prettifyError(error),
        ];
        const { user, system } = process.cpuUsage(before);
        ms = Math.min(ms, (user + system) / 1000);
        expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(160_000);
      }
      expect(ms).toBeLessThan(50);
    },
  );

  it('boundIssues counts the issues of other libraries only, since their values are not in a message', () => {
    const issues = (count: number) => Array.from({ length: count }, () => ({ message: 'x'.repeat(1000) }));
    const errors = [1000, 1001].map((count) => Object.assign(new Error('x'), { issues: issues(count) }));
    expect(errors.map((error) => boundIssues(error))).toEqual([false, true]);
    expect(errors.map((error) => omittedFrom(error.issues))).toEqual([undefined, 1]);
  });

  it('boundIssues keeps the first issues, and the last one says how many are missing', () => {
    const error = errorOf(
      z.array(z.string()),
      Array.from({ length: 5000 }, () => 5),
    );
    const { issues } = errorOf(
      z.array(z.string()),
      Array.from({ length: 5000 }, () => 5),
    );
    boundIssues(error);
    const kept = error.issues.length - 1;
    expect(omittedFrom(error.issues)).toBe(5000 - kept);
    expect(kept).toBeGreaterThan(300);
    expect(error.issues.slice(0, kept)).toEqual(issues.slice(0, kept));
    expect(error.issues[kept]?.message).toBe(`${5000 - kept} more issues are not listed`);
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

  it.each([
    ['an error without issues', new Error('x')],
    ['a text', 'x'],
    ['nothing', undefined],
  ])('boundIssues ignores %s', (_name, value) => {
    expect(boundIssues(value)).toBe(false);
  });
});
