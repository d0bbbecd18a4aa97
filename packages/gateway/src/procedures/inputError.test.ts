import { TRPCError } from '@trpc/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { inputError, formatIssues, issuesOf } from './inputError.ts';

const badRequest = (cause: unknown) => new TRPCError({ code: 'BAD_REQUEST', cause });

describe('formatIssues', () => {
  it.each([
    [20, ''],
    [21, '; and 1 more'],
    [22, '; and 2 more'],
  ])('formatIssues names the first 20 of %i issues and ends with "%s"', (count, rest) => {
    const issues = Array.from({ length: count }, (_, index) => ({ path: [index], message: 'is bad' }));
    const named = Array.from({ length: 20 }, (_, index) => `${index}: is bad`).join('; ');
    expect(formatIssues(issues)).toBe(`${named}${rest}.`);
  });

  it.each<[message: string, value: unknown, schema: z.ZodType]>([
    ['a: is required.', {}, z.object({ a: z.string() })],
    ['a: must be an integer.', { a: 5.5 }, z.object({ a: z.int() })],
    ['a: must be of the type number, not string.', { a: '5' }, z.object({ a: z.int() })],
    [
      'a: must be a date-time (RFC 3339), such as 2026-01-31T12:00:00Z.',
      { a: 'x' },
      z.object({ a: z.date() }),
    ],
    ['a: must be one of "b", "c".', { a: 'd' }, z.object({ a: z.enum(['b', 'c']) })],
    ['input: must be at least 1.', 0, z.int().min(1)],
    ['input: must be at least 1.', 0n, z.bigint().min(1n)],
    ['input: must be at most 1.', 2n, z.bigint().max(1n)],
    ['input: must be at most 1.5.', 2, z.number().max(1.5)],
    ['input: Invalid input: expected "a".', 'b', z.literal('a')],
    ['a.1: must be at most 1.', { a: [0, 2] }, z.object({ a: z.array(z.int().max(1)) })],
    ['a: is required.', {}, z.object({ a: z.date() })],
    ['a: must be of the type boolean, not null.', { a: null }, z.object({ a: z.boolean() })],
    ['a: must be of the type string, not array.', { a: [] }, z.object({ a: z.string() })],
    [
      'a: must be of the type number, not NaN.',
      { a: 'x' },
      z.object({ a: z.string().transform(Number).pipe(z.number()) }),
    ],
    ['a: must be one of "b|c", 5.', { a: 'd' }, z.object({ a: z.literal(['b|c', 5]) })],
    ['a: Too small: expected string to have >=2 characters.', { a: '' }, z.object({ a: z.string().min(2) })],
    ['a: Too big: expected number to be <5.', { a: 5 }, z.object({ a: z.number().lt(5) })],
    ['a: must be an integer or "all".', { a: 1.5 }, z.object({ a: z.union([z.int(), z.literal('all')]) })],
    ['a: must be a number or a string.', { a: true }, z.object({ a: z.union([z.int(), z.string()]) })],
    ['a: must be a number or "all".', { a: 'x' }, z.object({ a: z.union([z.int(), z.literal('all')]) })],
    [
      'a: must be an array or one of "b", "c".',
      { a: 1 },
      z.object({ a: z.array(z.int()).or(z.enum(['b', 'c'])) }),
    ],
    ['input: must be an array or a string.', 1, z.union([z.tuple([z.int()]), z.string()])],
    ['input: must be an object or a string.', 1, z.union([z.object({ b: z.int() }), z.string()])],
    ['input: must be an object or a string.', 1, z.union([z.record(z.string(), z.int()), z.string()])],
    ['input: must be absent or a string.', 1, z.union([z.undefined(), z.string()])],
    ['input: must be of the type string, not bigint.', 1n, z.string()],
    ['input: must be of the type string, not Date.', new Date(0), z.string()],
    ['input: must be of the type string, not NaN.', NaN, z.string()],
    ['input: must be of the type string, not Infinity.', Infinity, z.string()],
    ['input: must be of the type string, not -Infinity.', -Infinity, z.string()],
    ['a: must be a date-time (RFC 3339) or null.', { a: 1 }, z.object({ a: z.union([z.date(), z.null()]) })],
    [
      'a: must be a number or a string.',
      { a: {} },
      z.object({ a: z.union([z.number(), z.union([z.string(), z.number()])]) }),
    ],
    ['a: is required.', {}, z.object({ a: z.union([z.int(), z.string()]) })],
    // An integer that is out of bounds: the message is about the bound, not about the union.
    ['a: must be at most 10.', { a: 11 }, z.object({ a: z.union([z.int().max(10), z.literal('all')]) })],
    ['a: Invalid input.', { a: 'x' }, z.object({ a: z.union([z.uuid(), z.string().min(2)]) })],
    [
      'a: Invalid input.',
      { a: {} },
      z.object({ a: z.union([z.object({ b: z.int() }), z.object({ c: z.int() })]) }),
    ],
    ['input: has to rhyme.', 'x', z.string().refine(() => false, { error: 'has to rhyme' })],
  ])('formatIssues returns "%s" for zod’s issues with %s', (message, value, schema) => {
    const { error } = schema.safeParse(value);
    expect(formatIssues(issuesOf(badRequest(error)))).toBe(message);
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

  it('formatIssues keeps the messages of a locale that z.config has set', () => {
    onTestFinished(() => void z.config(z.locales.en()));
    z.config(z.locales.de());
    const { error } = z.object({ a: z.string(), b: z.int().min(1) }).safeParse({ b: 0 });
    expect(formatIssues(issuesOf(badRequest(error)))).toBe(
      `${error?.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`).join('; ')}.`,
    );
    expect(formatIssues(issuesOf(badRequest(error)))).toContain('erwartet');
  });
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
