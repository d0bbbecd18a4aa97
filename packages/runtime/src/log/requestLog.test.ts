import type { RequestRecord } from '@petstore/gateway';
import { getTRPCErrorFromUnknown } from '@trpc/server';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { requestLog, type RequestLogOptions } from './requestLog.ts';

class AwayError extends Error {}

const kindOf = (error: unknown) => (error instanceof AwayError ? { store: 'unavailable' } : undefined);

/** Opens a request log that keeps its lines in memory. `report` logs a GET with status 200 with the given changes. */
function recordLines(options: RequestLogOptions = { requests: 'errors', kindOf }) {
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const log = Object.assign(pino({ level: 'info' }, { write }), { line: write });
  const report = requestLog(log, options);
  return {
    end: () => report?.end(),
    report: (change: Partial<RequestRecord>) =>
      report?.onResponse({
        requestId: 'the-id',
        method: 'GET',
        path: '/v1/pets',
        protocol: 'rest',
        operation: 'listPets',
        status: 200,
        isStream: false,
        procedures: [],
        calls: 1,
        bytesIn: 0,
        bytesOut: 79,
        limit: undefined,
        durationMs: 1,
        error: undefined,
        ...change,
      }),
    lines: () => written.map((line): unknown => JSON.parse(line)),
    written,
  };
}

test('a request that takes longer than 1 s is logged as slow, a stream that stays open longer is not', () => {
  const { report, lines } = recordLines();
  report({ durationMs: 5000, isStream: true });
  report({ durationMs: 5000 });
  expect(lines()).toMatchObject([{ level: 40, status: 200, durationMs: 5000, msg: 'slow request' }]);
  expect(lines()).toHaveLength(1);
});

const unauthorized = { status: 401, operation: undefined } as const;
const shed = { status: 503, limit: 'queue-time', operation: undefined } as const;
const failing = { status: 503, error: new AwayError('no connection') };

describe('repeated requests of one kind', () => {
  test.each([
    ['same status', unauthorized, { level: 30, status: 401 }],
    ['same limit of the client', { status: 429, limit: 'rate' } as const, { level: 30, limit: 'rate' }],
    ['same limit of the process', shed, { level: 40, status: 503, limit: 'queue-time' }],
    ['same fields of kindOf', failing, { level: 50, status: 503, store: 'unavailable' }],
    ['slow', { durationMs: 5000 }, { level: 40, status: 200 }],
  ] as const)(
    'requests: errors logs the first request of a kind (%s), and the number of further ones a second later',
    (_, change, kind) => {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      const { report, lines } = recordLines();
      for (let left = 3; left > 0; left -= 1) report(change);
      const { level } = kind;
      expect(lines()).toMatchObject([{ level, requestId: 'the-id' }]);
      vi.advanceTimersByTime(1000);
      expect(lines()).toMatchObject([
        { requestId: 'the-id' },
        { ...kind, requests: 2, msg: 'similar requests' },
      ]);
      report(change);
      vi.advanceTimersByTime(5000);
      expect(lines()).toMatchObject([{}, {}, { level, requestId: 'the-id' }]);
      expect(lines()).toHaveLength(3);
    },
  );

  test('requests of different kinds are summarized separately, and end() writes the pending summaries', () => {
    const { report, end, lines } = recordLines();
    for (const change of [unauthorized, shed, { status: 404 }, unauthorized, shed, shed]) report(change);
    expect(lines()).toMatchObject([{ status: 401 }, { limit: 'queue-time' }, { status: 404 }]);
    end();
    expect(lines().slice(3)).toMatchObject([
      { status: 401, requests: 1 },
      { status: 503, limit: 'queue-time', requests: 2 },
    ]);
    expect(lines()).toHaveLength(5);
  });

  test('requests: all logs every request', () => {
    const { report, lines } = recordLines({ requests: 'all' });
    for (const change of [unauthorized, unauthorized, shed, shed, {}]) report(change);
    expect(lines()).toMatchObject([
      { level: 30, status: 401 },
      { level: 30, status: 401 },
      { level: 40, status: 503, limit: 'queue-time' },
      { level: 40, status: 503, limit: 'queue-time' },
      { level: 30, status: 200 },
    ]);
  });
});

test.each([
  ['/v1/'.padEnd(256, 'x'), '/v1/'.padEnd(256, 'x')],
  ['/v1/'.padEnd(257, 'x'), `${'/v1/'.padEnd(256, 'x')}… (257 bytes)`],
  [`/${'é'.repeat(128)}`, `/${'é'.repeat(127)}… (257 bytes)`],
])('a log line has at most 256 bytes of a path (%#)', (path, logged) => {
  for (const change of [unauthorized, { status: 500, error: new Error('no') }]) {
    const { report, lines } = recordLines();
    report({ ...change, path, operation: path });
    expect(lines()).toMatchObject([{ path: logged, operation: logged }]);
  }
});

test('a log line has trace_id and span_id if the request has a span', () => {
  const trace = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
  const ids = { trace_id: trace.traceId, span_id: trace.spanId };
  const { report, lines } = recordLines({ requests: 'all' });
  for (const change of [{ trace }, { trace, status: 500, error: new Error('no') }, {}]) report(change);
  expect(lines()).toMatchObject([ids, ids, {}]);
  expect(lines()[2]).not.toHaveProperty('trace_id');
});

describe('an unexpected error', () => {
  test('an unexpected error is logged every time', () => {
    const { report, lines } = recordLines();
    const error = new TypeError('x is not a function');
    for (let left = 3; left > 0; left -= 1) report({ status: 500, error });
    expect(lines()).toMatchObject([{ level: 50 }, { level: 50 }, { level: 50 }]);
  });

  test('an unexpected error is logged at level error with the request id and its cause', () => {
    const { report, lines } = recordLines();
    report({
      status: 500,
      error: new Error('the store fell over', { cause: new Error('the disk is gone') }),
    });
    expect(lines()).toMatchObject([
      {
        level: 50,
        requestId: 'the-id',
        status: 500,
        err: {
          type: 'Error',
          message: 'the store fell over: the disk is gone',
          stack: expect.stringContaining('requestLog.test.ts'),
        },
      },
    ]);
  });

  test('an unexpected error that tRPC has wrapped is logged with its message and stack once', () => {
    const { report, lines } = recordLines();
    report({ status: 500, error: getTRPCErrorFromUnknown(new Error('the disk is gone')) });
    const [{ err }] = lines() as [{ err: { message: string; code: string; stack: string } }];
    expect([err.message, err.code]).toEqual(['the disk is gone', 'INTERNAL_SERVER_ERROR']);
    expect(err.stack).not.toContain('caused by');
  });
});
