import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { notConvertible, parameterConverter } from './convert.ts';
import { readZod } from './readSchema.ts';

const converterOf = (schema: z.ZodType) => parameterConverter(readZod(schema, 'input'));

describe('parameterConverter', () => {
  it.each<[what: string, text: string, value: unknown, schema: z.ZodType]>([
    ['an integer', '-5', -5, z.int()],
    ['an integer', '', notConvertible, z.int()],
    ['an integer', '-', notConvertible, z.int()],
    ['an integer', '5.0', notConvertible, z.int()],
    ['an integer', '5.5', notConvertible, z.number().int()],
    ['an integer', '5.5', notConvertible, z.number().multipleOf(1)],
    ['a number', '5.5', 5.5, z.number()],
    ['a number', '', notConvertible, z.number()],
    ['a number', '.5', notConvertible, z.number()],
    ['a number', '5.', notConvertible, z.number()],
    ['a number', '1e', notConvertible, z.number()],
    ['a number', '1e+3', 1000, z.number()],
    ['a number', '-1.5E3', -1500, z.number()],
    ['a number', '5e-1', 0.5, z.number()],
    ['a bigint', '-9007199254740993', -9007199254740993n, z.bigint()],
    ['a bigint', '', notConvertible, z.bigint()],
    ['a bigint', '-', notConvertible, z.bigint()],
    ['a boolean', 'false', false, z.boolean()],
    ['a boolean', '', notConvertible, z.boolean()],
    ['a date', '2026-02-28T00:00:00Z', new Date('2026-02-28T00:00:00Z'), z.date()],
    ['a date', '', notConvertible, z.date()],
    ['a date', '2026-02-28', notConvertible, z.date()],
    ['an enum', 'a', 'a', z.enum(['a', 'b'])],
    ['an enum', '', notConvertible, z.enum(['a', 'b'])],
    ['a literal', 'true', true, z.literal([1, true])],
    ['a literal', '01', notConvertible, z.literal([1, true])],
    ['a literal bigint', '5', 5n, z.literal([5n]).optional()],
    ['a string', '', '', z.string()],
    ['null alone', 'null', notConvertible, z.null()],
    ['a union', 'all', 'all', z.union([z.int(), z.literal('all')])],
    ['a union', '7', 7, z.union([z.int(), z.literal('all')])],
    ['a union', '', notConvertible, z.union([z.int(), z.literal('all')])],
    ['an optional integer', '7', 7, z.int().nullable().default(1).optional()],
    ['the input of a codec', '7', 7, z.codec(z.int(), z.string(), { decode: String, encode: Number })],
  ])('the converter of %s converts %j to %s', (_what, text, value, schema) => {
    expect(converterOf(schema).convert(text)).toEqual(value);
  });

  it.each<[expects: string, schema: z.ZodType]>([
    ['an integer, such as 42 or -7', z.int()],
    ['an integer or "all"', z.union([z.int(), z.literal('all')])],
    ['an integer or one of "first", "last"', z.union([z.int(), z.enum(['first', 'last'])])],
    ['true or false or a date-time (RFC 3339)', z.union([z.boolean(), z.date()])],
    ['a number', z.union([z.number(), z.null()])],
    ['an integer or "all"', z.union([z.union([z.int(), z.undefined()]), z.literal('all')])],
    ['absent', z.union([z.null(), z.undefined()])],
  ])('a converter says that a value must be %s', (expects, schema) => {
    expect(converterOf(schema).expects).toBe(expects);
  });

  it('parameterConverter rejects an ambiguous union, and the reason names both readings', () => {
    expect(() => converterOf(z.union([z.int(), z.string()]))).toThrow(
      'is a union in which "5" could be an integer or a string; use a schema that allows only one of them',
    );
  });

  it.each<[what: string, integer: boolean, schema: z.ZodType]>([
    ['an integer', true, z.int()],
    ['a number', false, z.number()],
    ['an optional integer', true, z.int().nullable().optional()],
    ['a union of two ranges of integers', true, z.union([z.int().max(5), z.int().min(10)])],
    ['a union of an integer and a string', false, z.union([z.int(), z.literal('all')])],
  ])('the converter of %s accepts only integers: %s', (_what, integer, schema) => {
    expect(converterOf(schema).isInteger).toBe(integer);
  });
});
