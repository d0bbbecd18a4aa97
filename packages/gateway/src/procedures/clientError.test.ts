import { TRPCError } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { clientError, clientMessage } from './clientError.ts';

const secret = new Error('connect ECONNREFUSED mongodb://user:secret@db');
const { error: zodError } = z.object({ a: z.int() }).safeParse({});

describe('clientMessage', () => {
  it.each<[behaviour: string, error: TRPCError, message: string]>([
    ['shows a message without a cause', new TRPCError({ code: 'CONFLICT', message: 'Taken.' }), 'Taken.'],
    [
      'shows a message that differs from the message of the cause',
      new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'The store is away.', cause: secret }),
      'The store is away.',
    ],
    [
      'hides a message that tRPC copied from the cause',
      new TRPCError({ code: 'SERVICE_UNAVAILABLE', cause: secret }),
      'Service unavailable',
    ],
    [
      'hides every message of an unexpected error with a cause',
      new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: 'Output validation failed', cause: secret }),
      'Internal server error',
    ],
    [
      'shows the message of an unexpected error without a cause',
      new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: 'Broken.' }),
      'Broken.',
    ],
    [
      'shows the issues of an input, which tRPC copies from the cause',
      new TRPCError({ code: 'BAD_REQUEST', cause: zodError }),
      zodError?.message ?? '',
    ],
    [
      'hides the cause of a bad request that is not about an input',
      new TRPCError({ code: 'BAD_REQUEST', cause: secret }),
      'Bad request',
    ],
  ])('clientMessage %s', (_behaviour, error, message) => {
    expect(clientMessage(error)).toBe(message);
  });
});

describe('clientError', () => {
  it('clientError keeps the code and the cause of an error when it hides the message', () => {
    expect(clientError(new TRPCError({ code: 'SERVICE_UNAVAILABLE', cause: secret }))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'Service unavailable',
      cause: secret,
    });
  });

  it('clientError returns the same error if its message need not be hidden', () => {
    const error = new TRPCError({ code: 'CONFLICT', message: 'Taken.' });
    expect(clientError(error)).toBe(error);
  });
});
