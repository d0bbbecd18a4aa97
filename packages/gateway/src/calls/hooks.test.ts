import { TRPCError } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import type { HttpResponse } from '../http/response.ts';
import { afterOnRequest, ErrorReporter, hookedCalls, type ReportedError } from './hooks.ts';

const requestOf = (method = 'GET') => ({ method, path: '/' }) as HttpRequest;

describe('afterOnRequest', () => {
  const own: HttpResponse = { status: 418, headers: [] };
  const next = vi.fn((_scope: { readonly request: HttpRequest }) => 'next' as const);
  const reject = (error: TRPCError) => ({
    status: 400,
    headers: [],
    body: `${error.code}: ${error.message}`,
  });
  const send = async (onRequest: Parameters<typeof afterOnRequest>[0], method?: string) =>
    afterOnRequest(onRequest, reject, next)({ request: requestOf(method) });

  it('afterOnRequest returns the next function unchanged without a hook', () => {
    expect(afterOnRequest(undefined, reject, next)).toBe(next);
  });

  it.each<[what: string, onRequest: NonNullable<Parameters<typeof afterOnRequest>[0]>, response: unknown]>([
    ['continues if it returns undefined', () => {}, 'next'],
    ['continues if it resolves to undefined', async () => {}, 'next'],
    ['ends the request with a returned response', () => own, own],
    ['ends the request with the response of a promise', async () => own, own],
    [
      'ends the request with the response of a thenable, such as a query builder',
      // oxlint-disable-next-line unicorn/no-thenable -- is tested
      () => ({ then: (resolve: (value: HttpResponse) => void) => resolve(own) }) as never,
      own,
    ],
  ])('onRequest %s', async (_what, onRequest, response) => {
    expect(await send(onRequest)).toBe(response);
  });

  it('onRequest that throws or rejects answers with its TRPCError, or with 500 without the message of any other error', async () => {
    const error = new TRPCError({ code: 'FORBIDDEN', message: 'Not from here.' });
    const fails = (cause: unknown) => () => {
      throw cause;
    };
    expect(await send(fails(error))).toMatchObject({ body: 'FORBIDDEN: Not from here.' });
    expect(await send(async () => Promise.reject(error))).toMatchObject({
      body: 'FORBIDDEN: Not from here.',
    });
    expect(await send(fails(new Error('secret')))).toMatchObject({
      body: expect.stringMatching(/^INTERNAL_SERVER_ERROR: /),
    });
  });

  it('onRequest is not called for OPTIONS', async () => {
    const onRequest = vi.fn(() => own);
    expect(await send(onRequest, 'OPTIONS')).toBe('next');
    expect(onRequest).not.toHaveBeenCalled();
  });
});

describe('hookedCalls', () => {
  const call = (
    onCall: Parameters<typeof hookedCalls>[0],
    read: (index: number) => unknown = () => undefined,
  ) => {
    const procedure = { path: 'a', type: 'query', meta: undefined } as never;
    return hookedCalls(onCall)(procedure, {}, { read }, 3, { request: requestOf() } as never);
  };

  it('getRawInput reads the input of the call once, however often it is called', async () => {
    const read = vi.fn((index: number) => ({ index }));
    const data = await call(async ({ getRawInput }) => {
      const inputs = [await getRawInput(), await getRawInput()];
      return { ok: true, data: inputs };
    }, read);
    expect(data).toEqual([{ index: 3 }, { index: 3 }]);
    expect(read).toHaveBeenCalledExactlyOnceWith(3);
  });

  it('getRawInput rejects with the same error each time if the input cannot be read', async () => {
    const read = vi.fn(() => {
      throw new Error('not JSON');
    });
    const data = await call(async ({ getRawInput }) => {
      const failures = await Promise.allSettled([getRawInput(), getRawInput()]);
      return { ok: true, data: failures.map((each) => String((each as PromiseRejectedResult).reason)) };
    }, read);
    expect(data).toEqual(['Error: not JSON', 'Error: not JSON']);
    expect(read).toHaveBeenCalledOnce();
  });

  it.each<[returned: unknown]>([[undefined], [null], ['data'], [{}], [{ ok: 1, data: 1 }]])(
    'onCall that returns %j makes the call fail',
    async (returned) => {
      const message = 'onCall did not return a result. Return the value of next().';
      expect(await call(() => returned as never)).toMatchObject({ error: { message } });
      expect(await call(async () => returned as never)).toMatchObject({ error: { message } });
    },
  );

  it('onCall that throws, rejects or returns an error makes it the error of the call', async () => {
    const error = new TRPCError({ code: 'CONFLICT' });
    const thrown = call(() => {
      throw error;
    });
    expect(thrown).toMatchObject({ error });
    expect(await call(async () => Promise.reject(error))).toMatchObject({ error });
    expect(call(() => ({ ok: false, error }))).toMatchObject({ error });
  });
});

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
