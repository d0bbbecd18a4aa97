import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { safeParse, type $ZodType } from 'zod/v4/core';
import { trpcToOpenApiErrors } from '../trpcToOpenApi/trpcToOpenApi.ts';
import { apiErrors, problemDetails, type RestError } from './errorFormat.ts';

const invalid: RestError = {
  code: 'BAD_REQUEST',
  trpcCode: 'BAD_REQUEST',
  message: 'a: is required.',
  status: 400,
  isDeclared: false,
  data: undefined,
  issues: [{ code: 'invalid_type', expected: 'string', path: ['a'], message: 'is required' }],
  error: new TRPCError({ code: 'BAD_REQUEST' }),
  shape: { code: -32600, message: '[…]', data: { code: 'BAD_REQUEST', httpStatus: 400 } },
};

it.each<[path: PropertyKey[], pointer: string]>([
  [[], '#'],
  [['a', 0], '#/a/0'],
  [['a/b'], '#/a~1b'],
  [['a~b'], '#/a~0b'],
  [['~1'], '#/~01'],
  [['a b', 'ü%'], '#/a%20b/%C3%BC%25'],
])('problemDetails formats the path %j as the pointer %s', (path, pointer) => {
  const issues = [{ path, message: 'is bad' }];
  expect(problemDetails.body({ ...invalid, issues })).toMatchObject({
    errors: [{ pointer, detail: 'is bad' }],
  });
});

it.each([apiErrors, problemDetails, trpcToOpenApiErrors])(
  'the bodies of an error format match its schema: format %#',
  ({ body, schema }) => {
    for (const error of [invalid, { ...invalid, issues: [] }]) {
      expect(safeParse(schema as $ZodType, body(error)).error).toBeUndefined();
    }
  },
);
