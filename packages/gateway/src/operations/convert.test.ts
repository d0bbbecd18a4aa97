import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isExactNumber, notConvertible, parameterConverter } from './convert.ts';
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
    ['a bigint with a default', '7', 7n, z.bigint().default(5n).optional()],
    ['a bigint with a default', '', notConvertible, z.bigint().prefault(5n)],
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

it.each([
  '0',
  '-0',
  '0.0',
  '0e5',
  '000',
  '7',
  '-7',
  '007',
  '7.50',
  '1e3',
  '1E+3',
  '1000e-3',
  '0.001',
  '1.5e-7',
  '123456789012345680000',
  '1e21',
  '9007199254740991',
  '9007199254740992',
  '-120.0300',
])('isExactNumber(%s) is true for its parsed value', (literal) => {
  expect(isExactNumber(literal, Number(literal))).toBe(true);
});

it.each([
  '9007199254740993',
  '0.1000000000000000055511151231257827',
  '1e400',
  '-1e400',
  '1e-400',
  '7.00000000000000001',
])('isExactNumber(%s) is false for its parsed value', (literal) => {
  expect(isExactNumber(literal, Number(literal))).toBe(false);
});

it.each([
  ['7', -7],
  ['70', 7],
  ['7', 70],
  ['0.7', 7],
  ['1e2', 1000],
  ['1e2', 10],
  ['1.5', 15],
])('isExactNumber(%s, %d) is false', (literal, value) => {
  expect(isExactNumber(literal, value)).toBe(false);
});

it('isExactNumber is false for text that is not a decimal literal', () => {
  expect(isExactNumber('x', 7)).toBe(false);
  expect(isExactNumber('7x', 7)).toBe(false);
  expect(isExactNumber('x7', 7)).toBe(false);
  expect(isExactNumber('Infinity', Infinity)).toBe(false);
  expect(isExactNumber('NaN', NaN)).toBe(false);
});

it('isExactNumber is true for every double in decimal and exponential notation', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(isExactNumber(String(value), value)).toBe(true);
      expect(isExactNumber(value.toExponential(), value)).toBe(true);
    }),
  );
});
