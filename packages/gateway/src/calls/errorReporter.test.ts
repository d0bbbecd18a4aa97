import { TRPCError } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { ErrorReporter, type ReportedError } from './errorReporter.ts';

const requestOf = (method = 'GET') => ({ method, path: '/' }) as HttpRequest;

describe('ErrorReporter', () => {
  const reported = (error: TRPCError, request: HttpRequest): ReportedError<unknown> => ({
    error,
    request,
    path: undefined,
    type: 'unknown',
    input: undefined,
    ctx: undefined,
  });

  it('ErrorReporter.reportOnce skips an error that was already reported for the same request', () => {
    const onError = vi.fn();
    const reporter = new ErrorReporter(onError);
    const error = new TRPCError({ code: 'CONFLICT' });
    const [one, other] = [requestOf(), requestOf()];
    reporter.report(reported(error, one));
    reporter.reportOnce(reported(error, one));
    expect(onError).toHaveBeenCalledTimes(1);
    // Policies reuse one error object for many requests.
    reporter.reportOnce(reported(error, other));
    reporter.report(reported(error, other));
    expect(onError).toHaveBeenCalledTimes(3);
  });

  it('ErrorReporter ignores an onError that throws or rejects', () => {
    const error = new TRPCError({ code: 'CONFLICT' });
    const throwing = new ErrorReporter(() => {
      throw new Error('log');
    });
    expect(() => throwing.report(reported(error, requestOf()))).not.toThrow();
    // An unhandled rejection would fail the test.
    new ErrorReporter(async () => Promise.reject(new Error('log'))).report(reported(error, requestOf()));
  });
});
