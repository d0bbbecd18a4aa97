import { TRPCError } from '@trpc/server';
import { expect, it, test } from 'vitest';
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
const missing: RestError = { ...invalid, code: 'NOT_FOUND', message: 'Gone.', status: 404, issues: [] };

test('apiErrors formats code, message and status, and nothing else', () => {
  expect(apiErrors.body(invalid)).toEqual({ code: 'BAD_REQUEST', message: 'a: is required.', status: 400 });
});

test('problemDetails omits errors without invalid fields', () => {
  expect(problemDetails.body(missing)).toEqual({
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'Gone.',
    code: 'NOT_FOUND',
  });
});

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

it.each([apiErrors, problemDetails])(
  'the bodies of an error format match its schema: format %#',
  ({ body, schema }) => {
    for (const error of [invalid, missing]) expect(schema.safeParse(body(error)).error).toBeUndefined();
  },
);
