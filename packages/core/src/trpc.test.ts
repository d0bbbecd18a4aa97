import { getErrorShape, TRPCError } from '@trpc/server';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { appRouter } from './router.ts';

const secret = new Error('connect ECONNREFUSED mongodb://root:hunter2@db.internal');

/** Returns the message of an error that a tRPC client gets. */
const clientMessageOf = (error: TRPCError) =>
  getErrorShape({
    config: appRouter._def._config,
    error,
    type: 'query',
    path: 'listPets',
    input: undefined,
    ctx: undefined,
  }).message;

describe('an error in tRPC', () => {
  test.for([
    ['CONFLICT', 'Conflict'],
    ['BAD_REQUEST', 'Bad request'],
    ['SERVICE_UNAVAILABLE', 'Service unavailable'],
    ['INTERNAL_SERVER_ERROR', 'Internal server error'],
  ] as const)('the message of an error with code %s and no message of its own is %j', ([code, message]) => {
    expect(clientMessageOf(new TRPCError({ code, cause: secret }))).toBe(message);
  });

  test('an INTERNAL_SERVER_ERROR with a cause hides its message from clients', () => {
    const message = 'The store at /data failed.';
    expect(clientMessageOf(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message, cause: secret }))).toBe(
      'Internal server error',
    );
  });

  test('other errors keep the message that a procedure gave them', () => {
    expect(
      clientMessageOf(new TRPCError({ code: 'CONFLICT', message: 'Rex is taken.', cause: secret })),
    ).toBe('Rex is taken.');
    expect(clientMessageOf(new TRPCError({ code: 'NOT_FOUND', message: 'There is no Rex.' }))).toBe(
      'There is no Rex.',
    );
  });

  test('an input error has the message of its zod error', () => {
    const cause = z.string().safeParse(1).error;
    expect(clientMessageOf(new TRPCError({ code: 'BAD_REQUEST', cause }))).toBe(cause?.message);
  });

  test('an internal error with a property issues hides its message', () => {
    const cause = Object.assign(new Error(secret.message), { issues: [] });
    expect(clientMessageOf(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause }))).toBe(
      'Internal server error',
    );
  });
});
