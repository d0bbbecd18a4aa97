import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parameterConverter } from './convert.ts';
import { readZod } from '../schemas/readSchema.ts';

const converterOf = (schema: z.ZodType) => parameterConverter(readZod(schema, 'input'));

describe('parameterConverter', () => {
  it.each<[expects: string, schema: z.ZodType]>([
    ['an integer, such as 42 or -7', z.int()],
    ['an integer or "all"', z.union([z.int(), z.literal('all')])],
    ['an integer or one of "first", "last"', z.union([z.int(), z.enum(['first', 'last'])])],
    ['true or false or a date-time (RFC 3339)', z.union([z.boolean(), z.date()])],
    ['a number', z.union([z.number(), z.null()]).optional()],
    ['an integer or "all"', z.union([z.union([z.int(), z.undefined()]), z.literal('all')])],
    ['absent', z.union([z.null(), z.undefined()]).optional()],
  ])('a converter says that a value must be %s', (expects, schema) => {
    expect(converterOf(schema).expects).toBe(expects);
  });

  it('parameterConverter rejects an ambiguous union, and the reason names both readings', () => {
    expect(() => converterOf(z.union([z.int(), z.string()]))).toThrow(
      'is a union in which "5" could be an integer or a string; use a schema that allows only one of them',
    );
  });
});
