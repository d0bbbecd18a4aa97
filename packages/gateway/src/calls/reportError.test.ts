import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { createReportError, type ReportedError } from './reportError.ts';

const reported: ReportedError<unknown> = {
  error: new TRPCError({ code: 'CONFLICT' }),
  request: { method: 'GET', path: '/' } as HttpRequest,
  path: undefined,
  type: 'unknown',
  input: undefined,
  ctx: undefined,
};

it('errors that onError throws or rejects with are ignored', () => {
  const throwing = createReportError(() => {
    throw new Error('log');
  });
  expect(() => throwing(reported)).not.toThrow();
  // An unhandled rejection would fail the test.
  createReportError(async () => Promise.reject(new Error('log')))(reported);
});
