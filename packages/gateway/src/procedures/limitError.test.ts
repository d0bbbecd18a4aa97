import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { LimitError, retryAfterSecondsOf } from './limitError.ts';

const cause = (retryAfterSeconds: unknown) => Object.assign(new Error('busy'), { retryAfterSeconds });

it.each([
  ['TOO_MANY_REQUESTS', cause(5), 5],
  ['SERVICE_UNAVAILABLE', cause(5), 5],
  ['SERVICE_UNAVAILABLE', undefined, 1],
  ['SERVICE_UNAVAILABLE', new Error('busy'), 1],
  ['SERVICE_UNAVAILABLE', cause('5'), 1],
  ['SERVICE_UNAVAILABLE', cause(Infinity), 1],
  ['SERVICE_UNAVAILABLE', cause(1.2), 2],
  ['SERVICE_UNAVAILABLE', cause(0.5), 1],
  ['SERVICE_UNAVAILABLE', cause(0), 0],
  ['SERVICE_UNAVAILABLE', cause(-0.5), 0],
  ['SERVICE_UNAVAILABLE', cause(-5), 0],
  ['SERVICE_UNAVAILABLE', cause(Number.NaN), 1],
  ['SERVICE_UNAVAILABLE', cause(1e21), 1],
  ['INTERNAL_SERVER_ERROR', cause(5), undefined],
  ['NOT_FOUND', undefined, undefined],
] as const)('retryAfterSecondsOf an error %s with the cause %o is %s', (code, error, seconds) => {
  expect(retryAfterSecondsOf(new TRPCError({ code, cause: error }))).toBe(seconds);
});

it('retryAfterSecondsOf a LimitError is its own retryAfterSeconds', () => {
  const error = { code: 'TOO_MANY_REQUESTS', message: 'Too many.', retryAfterSeconds: 30 } as const;
  expect(retryAfterSecondsOf(new LimitError('rate', error))).toBe(30);
});
