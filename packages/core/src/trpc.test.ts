import { getErrorShape, TRPCError } from '@trpc/server';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { appRouter } from './router.ts';

const secret = new Error('connect ECONNREFUSED mongodb://root:hunter2@db.internal');

/** What a tRPC client is told of an error. */
const told = (error: TRPCError) =>
  getErrorShape({
    config: appRouter._def._config,
    error,
    type: 'query',
    path: 'listPets',
    input: undefined,
    ctx: undefined,
  }).message;

describe('an error over tRPC', () => {
  test.for([
    ['CONFLICT', 'Conflict'],
    ['BAD_REQUEST', 'Bad request'],
    ['SERVICE_UNAVAILABLE', 'Service unavailable'],
    ['INTERNAL_SERVER_ERROR', 'Internal server error'],
  ] as const)('of the code %s says no word of its cause, where it has none of its own', ([code, words]) => {
    expect(told(new TRPCError({ code, cause: secret }))).toBe(words);
  });

  test('an internal server error with a cause hides its own message from tRPC clients too', () => {
    const message = 'The store at /data failed.';
    expect(told(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message, cause: secret }))).toBe(
      'Internal server error',
    );
  });

  test('says what was written for clients', () => {
    expect(told(new TRPCError({ code: 'CONFLICT', message: 'Rex is taken.', cause: secret }))).toBe(
      'Rex is taken.',
    );
    expect(told(new TRPCError({ code: 'NOT_FOUND', message: 'There is no Rex.' }))).toBe('There is no Rex.');
  });

  test('says what is wrong with an input, as tRPC does', () => {
    const cause = z.string().safeParse(1).error;
    expect(told(new TRPCError({ code: 'BAD_REQUEST', cause }))).toBe(cause?.message);
  });

  test('says nothing of a fault that has issues but is none of an input', () => {
    const cause = Object.assign(new Error(secret.message), { issues: [] });
    expect(told(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause }))).toBe('Internal server error');
  });
});
