import { unhandledRejections } from '@petstore/testing/unhandledRejections';
import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { LoggedRequest } from '../parts.ts';
import { requestLog, type RequestLogOptions } from './requestLog.ts';
import { serializeError } from './serializeError.ts';
import { failures } from '../testing/failures.ts';
import { record } from '../testing/record.ts';

class AwayError extends Error {}

const kindOf = (error: unknown) => (error instanceof AwayError ? { store: 'unavailable' } : undefined);

/** Opens a request log that keeps its lines in memory. `report` logs a GET with status 200 with the given changes. */
function recordLines(options: RequestLogOptions = { requests: 'errors', kindOf }, level = 'info') {
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const report = requestLog(pino({ level, serializers: { err: serializeError } }, { write }), options);
  return {
    end: () => report?.end(),
    report: (change: Partial<LoggedRequest>) =>
      report?.onResponse({ ...record, requestId: 'the-id', ...change }),
    lines: () => written.map((line): unknown => JSON.parse(line)),
    written,
  };
}

test.each([
  ['takes longer than 1 s', { durationMs: 1000.5 }, [{ level: 40, durationMs: 1000.5, msg: 'slow request' }]],
  ['takes 1 s', { durationMs: 1000 }, []],
  ['is a stream that stays open longer', { durationMs: 5000, isStream: true }, []],
])('a request that %s is logged as slow, or not at all', (_, change, expected) => {
  const { report, lines } = recordLines();
  report(change);
  expect(lines()).toMatchObject(expected);
  expect(lines()).toHaveLength(expected.length);
});

test.each([
  ['a client error', { status: 413, limit: 'body-bytes' }, { level: 30, msg: 'request' }],
  ['a limit of the process', { status: 503, limit: 'in-flight' }, { level: 40, msg: 'request' }],
  ['a slow request', { status: 201, durationMs: 2000 }, { level: 40, msg: 'slow request' }],
  ['a failed check', { status: 503, reason: 'unavailable' }, { level: 50, msg: 'request' }],
  ['/readyz of a service that stops', { status: 503, reason: 'draining' }, { level: 40, msg: 'request' }],
  ['a call that a stop rejects', { status: 503, limit: 'stopping' }, { level: 40, msg: 'request' }],
] as const)('the line of %s has these fields and no others', (_, change, fields) => {
  const { report, lines } = recordLines();
  const request = {
    requestId: 'r"1',
    method: 'P\nUT',
    path: '/v1/"x',
    protocol: 'trpc',
    operation: 'a,b',
    durationMs: 2.123,
    ...change,
  } as const;
  report({
    ...request,
    durationMs: request.durationMs + 0.0004,
    procedures: ['a', 'b'],
    calls: 2,
    bytesIn: 3,
    bytesOut: 4,
  });
  expect(lines()).toEqual([
    { ...request, ...fields, time: expect.any(Number), pid: process.pid, hostname: expect.any(String) },
  ]);
});

const failedCall = (code: string) => ({ callErrors: [{ procedure: 'a', code }] });
const failedCalls = {
  callErrors: ['CONFLICT', 'NOT_FOUND', 'CONFLICT'].map((code) => ({ procedure: undefined, code })),
};

test.each([
  ['a tool that fails', { protocol: 'mcp', ...failedCall('NOT_FOUND') }, 30, ['NOT_FOUND']],
  [
    'a tool that misses its deadline',
    { protocol: 'mcp', ...failedCall('GATEWAY_TIMEOUT') },
    40,
    ['GATEWAY_TIMEOUT'],
  ],
  [
    'a batch of which calls fail',
    { protocol: 'trpc', status: 207, calls: 4, ...failedCalls },
    30,
    ['CONFLICT', 'NOT_FOUND'],
  ],
  ['a REST request that fails', { status: 404, ...failedCall('NOT_FOUND') }, 30, ['NOT_FOUND']],
] as const)('the line of %s has the codes of its failed calls, each once', (_, change, level, codes) => {
  const { report, lines } = recordLines();
  report(change);
  expect(lines()).toMatchObject([{ level, codes, msg: 'request' }]);
});

test.each([
  ['isReplay', { isReplay: true }, { isReplay: true }],
  ['trace_id and span_id', { trace: { traceId: 'a', spanId: 'b' } }, { trace_id: 'a', span_id: 'b' }],
])(
  'a line has %s if its request is a replay or has a span, and no other line has them',
  (_, change, fields) => {
    const { report, lines } = recordLines({ requests: 'all' });
    for (const each of [change, { isReplay: false }]) report(each);
    expect(lines()).toMatchObject([fields, {}]);
    for (const field of Object.keys(fields)) expect(lines()[1]).not.toHaveProperty(field);
  },
);

test('requests: none logs no request', () => {
  const { report, lines } = recordLines({ requests: 'none' });
  report({ status: 500, error: new Error('no') });
  expect(lines()).toEqual([]);
});

test.each(['errors', 'all'] as const)('at level warn, requests: %s logs no client error', (requests) => {
  const { report, end, lines } = recordLines({ requests }, 'warn');
  for (let left = 3; left > 0; left -= 1) report({ status: 401 });
  report({ status: 503, limit: 'in-flight' });
  end();
  expect(lines()).toMatchObject([{ status: 503 }]);
  expect(lines()).toHaveLength(1);
});

const unauthorized = { status: 401, operation: undefined } as const;
const shed = { status: 503, limit: 'queue-time', operation: undefined } as const;
const failing = { status: 503, error: new AwayError('no connection') };
const away = { status: 503, error: new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'Later.' }) };
const notReady = {
  status: 503,
  path: '/readyz',
  protocol: 'other',
  operation: undefined,
  reason: 'unavailable',
} as const;

describe('repeated requests of one kind', () => {
  test.each([
    ['same status', unauthorized, { level: 30, status: 401 }],
    ['same limit of the client', { status: 429, limit: 'rate' } as const, { level: 30, limit: 'rate' }],
    ['same limit of the process', shed, { level: 40, status: 503, limit: 'queue-time' }],
    ['same fields of kindOf', failing, { level: 50, status: 503, store: 'unavailable' }],
    ['same message of SERVICE_UNAVAILABLE', away, { level: 50, status: 503, unavailable: 'Later.' }],
    ['same reason of /readyz', notReady, { level: 50, status: 503, reason: 'unavailable' }],
    ['same status of 500 and above, without an error', { status: 500 }, { level: 50, status: 500 }],
    ['slow', { durationMs: 5000 }, { level: 40, status: 200 }],
    ['failed calls within a success', failedCalls, { level: 30, status: 200 }],
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
    const limits = [
      { status: 429, limit: 'rate' } as const,
      { status: 429, limit: 'failed-attempts' } as const,
    ];
    const readiness = [notReady, { ...notReady, reason: 'draining' }, { status: 503 }];
    for (const change of [unauthorized, shed, ...limits, ...readiness, unauthorized, shed, shed])
      report(change);
    expect(lines()).toMatchObject([
      { status: 401 },
      { limit: 'queue-time' },
      { limit: 'rate' },
      { limit: 'failed-attempts' },
      { level: 50, status: 503, reason: 'unavailable' },
      { level: 40, status: 503, reason: 'draining' },
      { level: 50, status: 503 },
    ]);
    expect(lines()[6]).not.toHaveProperty('reason');
    end();
    expect(lines().slice(7)).toMatchObject([
      { status: 401, requests: 1 },
      { status: 503, limit: 'queue-time', requests: 2 },
    ]);
    expect(lines()).toHaveLength(9);
  });

  test('requests: all logs every request', () => {
    const { report, lines } = recordLines({ requests: 'all' });
    const stream = { durationMs: 5000, isStream: true };
    for (const change of [unauthorized, unauthorized, shed, shed, {}, stream]) report(change);
    expect(lines()).toMatchObject([
      { level: 30, status: 401 },
      { level: 30, status: 401 },
      { level: 40, status: 503, limit: 'queue-time' },
      { level: 40, status: 503, limit: 'queue-time' },
      { level: 30, status: 200 },
      { level: 30, msg: 'request' },
    ]);
  });
});

test.each([
  ['/v1/'.padEnd(256, 'x'), '/v1/'.padEnd(256, 'x')],
  ['/v1/'.padEnd(257, 'x'), `${'/v1/'.padEnd(256, 'x')}… (257 bytes)`],
  [`/${'é'.repeat(128)}`, `/${'é'.repeat(127)}… (257 bytes)`],
])('a log line has at most 256 bytes of a path, an operation or a method (%#)', (path, logged) => {
  const { report, lines } = recordLines();
  report({ ...unauthorized, path, operation: path, method: path });
  expect(lines()).toMatchObject([{ path: logged, operation: logged, method: logged }]);
});

describe('an unexpected error', () => {
  test('an unexpected error is logged every time, at level error with the request id and its cause', () => {
    const { report, lines } = recordLines();
    const error = new Error('the store fell over', { cause: new Error('the disk is gone') });
    for (let left = 2; left > 0; left -= 1) report({ status: 500, error });
    const line = {
      level: 50,
      requestId: 'the-id',
      status: 500,
      err: {
        type: 'Error',
        message: 'the store fell over: the disk is gone',
        stack: expect.stringContaining('requestLog.test.ts'),
      },
    };
    expect(lines()).toMatchObject([line, line]);
  });

  test.each([
    ['that tRPC has wrapped', (error: Error) => getTRPCErrorFromUnknown(error), ['Error', 'Error']],
    [
      'whose causes quote each other',
      (error: Error) => new TypeError(`the store failed: ${error.message}.`, { cause: error }),
      ['TypeError', 'Error', 'Error'],
    ],
  ])('the line of an unexpected error %s has each text once, and the stacks', (_, wrap, types) => {
    const { report, lines, written } = recordLines();
    const cause = new Error("the disk is gone\n    at 10 o'clock", { cause: new Error('the disk is gone') });
    report({ status: 500, error: wrap(cause) });
    const [{ err }] = lines() as [{ err: { message: string; stack: string } }];
    expect(written[0]?.split('the disk is gone')).toHaveLength(2);
    expect(written[0]?.split("o'clock")).toHaveLength(2);
    expect(err.message).toContain("the disk is gone\n    at 10 o'clock");
    expect(err.stack.split('\n').filter((line) => !line.startsWith('    at '))).toEqual(
      types.map((type, index) => (index === 0 ? type : `caused by: ${type}`)),
    );
  });

  test('the line of an error whose causes are circular ends', () => {
    const { report, lines } = recordLines();
    const error = new Error('a');
    error.cause = new Error('b', { cause: error });
    report({ status: 500, error });
    expect(lines()).toMatchObject([{ err: { message: 'a: b' } }]);
  });
});

test.each(failures)('an error is logged as unexpected, each time, if kindOf %s', async (_, fail) => {
  const { report, lines } = recordLines({ requests: 'errors', kindOf: fail as typeof kindOf });
  const failed = { status: 500, error: new Error('unexpected') };
  const unhandled = await unhandledRejections(() => {
    report(failed);
    report(failed);
  });
  expect(lines()).toMatchObject([{ level: 50 }, { level: 50 }]);
  expect(unhandled).toEqual([]);
});
