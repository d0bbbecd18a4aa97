import type { RequestRecord } from '@petstore/gateway';
import { getTRPCErrorFromUnknown } from '@trpc/server';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { requestLog, type RequestLogOptions } from './requestLog.ts';

class AwayError extends Error {}

const kindOf = (error: unknown) => (error instanceof AwayError ? { store: 'unavailable' } : undefined);

/** A log that keeps its lines, and an exchange that differs from one that was answered 200 as is said. */
function keptLines(options: RequestLogOptions = { requests: 'errors', kindOf }) {
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

test('a request that took longer than 1 s is logged as slow, and a stream that stayed open longer is not', () => {
  const { report, lines } = keptLines();
  report({ durationMs: 5000, isStream: true });
  report({ durationMs: 5000 });
  expect(lines()).toMatchObject([{ level: 40, status: 200, durationMs: 5000, msg: 'slow request' }]);
  expect(lines()).toHaveLength(1);
});

const unauthorized = { status: 401, operation: undefined } as const;
const shed = { status: 503, limit: 'queue-time', operation: undefined } as const;
const failing = { status: 503, error: new AwayError('no answer') };

describe('of rejected requests of one kind', () => {
  test.each([
    ['a status', unauthorized, { level: 30, status: 401 }],
    ['a limit that the client met', { status: 429, limit: 'rate' } as const, { level: 30, limit: 'rate' }],
    ['a limit of the process', shed, { level: 40, status: 503, limit: 'queue-time' }],
    ['a failure that kindOf knows', failing, { level: 50, status: 503, store: 'unavailable' }],
    ['slow ones', { durationMs: 5000 }, { level: 40, status: 200 }],
  ] as const)('(%s) the first gets a line, and the others one line a second later', (_, change, kind) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { report, lines } = keptLines();
    for (let left = 3; left > 0; left -= 1) report(change);
    const { level } = kind;
    expect(lines()).toMatchObject([{ level, requestId: 'the-id' }]);
    vi.advanceTimersByTime(1000);
    expect(lines()).toMatchObject([
      { requestId: 'the-id' },
      { ...kind, requests: 2, msg: 'further requests' },
    ]);
    report(change);
    vi.advanceTimersByTime(5000);
    expect(lines()).toMatchObject([{}, {}, { level, requestId: 'the-id' }]);
    expect(lines()).toHaveLength(3);
  });

  test('others are another kind, and a stop writes the lines that are due', () => {
    const { report, end, lines } = keptLines();
    for (const change of [unauthorized, shed, { status: 404 }, unauthorized, shed, shed]) report(change);
    expect(lines()).toMatchObject([{ status: 401 }, { limit: 'queue-time' }, { status: 404 }]);
    end();
    expect(lines().slice(3)).toMatchObject([
      { status: 401, requests: 1 },
      { status: 503, limit: 'queue-time', requests: 2 },
    ]);
    expect(lines()).toHaveLength(5);
  });

  test('each gets a line with requests: all', () => {
    const { report, lines } = keptLines({ requests: 'all' });
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
])('a line holds at most 256 bytes of a path (%#)', (path, logged) => {
  for (const change of [unauthorized, { status: 500, error: new Error('no') }]) {
    const { report, lines } = keptLines();
    report({ ...change, path, operation: path });
    expect(lines()).toMatchObject([{ path: logged, operation: logged }]);
  }
});

test('a line has the ids of the request’s span, where there is one', () => {
  const trace = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
  const ids = { trace_id: trace.traceId, span_id: trace.spanId };
  const { report, lines } = keptLines({ requests: 'all' });
  for (const change of [{ trace }, { trace, status: 500, error: new Error('no') }, {}]) report(change);
  expect(lines()).toMatchObject([ids, ids, {}]);
  expect(lines()[2]).not.toHaveProperty('trace_id');
});

describe('an unexpected error', () => {
  test('is logged each time', () => {
    const { report, lines } = keptLines();
    const error = new TypeError('x is not a function');
    for (let left = 3; left > 0; left -= 1) report({ status: 500, error });
    expect(lines()).toMatchObject([{ level: 50 }, { level: 50 }, { level: 50 }]);
  });

  test('is logged as an error with the request id and its cause', () => {
    const { report, lines } = keptLines();
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

  test('that tRPC wrapped has its message and its stack once', () => {
    const { report, lines } = keptLines();
    report({ status: 500, error: getTRPCErrorFromUnknown(new Error('the disk is gone')) });
    const [{ err }] = lines() as [{ err: { message: string; code: string; stack: string } }];
    expect([err.message, err.code]).toEqual(['the disk is gone', 'INTERNAL_SERVER_ERROR']);
    expect(err.stack).not.toContain('caused by');
  });
});
