import { expect, it } from 'vitest';
import { z } from 'zod';
import { parameterConverter } from './convert.ts';
import { readZod } from '../schemas/readSchema.ts';

it.each<[expects: string, schema: z.ZodType]>([
  ['an integer, such as 42 or -7', z.int()],
  ['an integer or "all"', z.union([z.int(), z.literal('all')])],
  ['an integer or one of "first", "last"', z.union([z.int(), z.enum(['first', 'last'])])],
  ['true or false or a date-time (RFC 3339)', z.union([z.boolean(), z.date()])],
  ['a number', z.union([z.number(), z.null()]).optional()],
  ['an integer or "all"', z.union([z.union([z.int(), z.undefined()]), z.literal('all')])],
  ['absent', z.union([z.null(), z.undefined()]).optional()],
])('a converter says that a value must be %s', (expects, schema) => {
  expect(parameterConverter(readZod(schema, 'input')).expects).toBe(expects);
});
