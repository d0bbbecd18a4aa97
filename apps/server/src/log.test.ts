import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { StoreError } from '@petstore/core';
import type { Exchange } from '@petstore/gateway';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { requestLog } from './log.ts';
import { logLines, type RunningServer } from './testing/petStoreProcess.ts';
import { apiKey, newFolder } from './testing/newFolder.ts';
import { nobody, nobodyCanRun } from './testing/nobody.ts';

const authorization = `Bearer ${apiKey}`;
const requests = (server: RunningServer) =>
  logLines(server).filter(({ requestId }) => requestId !== undefined);

/** One good call, and one that finds nothing; then the server ends, so that its log is whole. */
async function twoCalls({ origin, stop }: RunningServer): Promise<Response> {
  await fetch(`${origin}/v1/pets`, { headers: { authorization } });
  const missing = await fetch(`${origin}/v1/pets/7?secret=of-the-query`, { headers: { authorization } });
  await stop();
  return missing;
}

describe('LOG_REQUESTS', () => {
  test('errors, the default: a line for the first of each status that is not 2xx, with the X-Request-Id of the answer', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey } });
    const missing = await twoCalls(server);
    expect(requests(server)).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        pid: expect.any(Number),
        hostname: expect.any(String),
        requestId: missing.headers.get('x-request-id'),
        method: 'GET',
        path: '/v1/pets/7',
        face: 'rest',
        operation: 'getPet',
        status: 404,
        durationMs: expect.any(Number),
        msg: 'request',
      },
    ]);
  });

  test('all: a line for every request', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, LOG_REQUESTS: 'all' } });
    await twoCalls(server);
    expect(requests(server).map(({ status }) => status)).toEqual([200, 404]);
  });

  test('none: no line', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, LOG_REQUESTS: 'none' } });
    await twoCalls(server);
    expect(requests(server)).toEqual([]);
  });
});

test('the log line of a start counts the procedures by how they are executed', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey } });
  expect(logLines(server).find(({ msg }) => msg === 'listening')).toMatchObject({
    procedures: { compiled: 3, trpc: 0 },
  });
});

describe.skipIf(process.getuid?.() !== 0 || !nobodyCanRun)('a start logs a warning', () => {
  const warnings = (server: RunningServer) => logLines(server).filter(({ level }) => level === 40);

  test.each([{}, { WORKERS: '2' }])('once when it runs as root (%j)', async (env) => {
    const { serve } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey, ...env } });
    await server.stop();
    expect(warnings(server)).toMatchObject([{ msg: expect.stringMatching(/^running as root: /) }]);
  });

  test('never when it runs as another user', async () => {
    const { serve, dataDir } = await newFolder();
    await chmod(dirname(dataDir), 0o777);
    const server = await serve({ env: { API_KEY: apiKey }, ...nobody });
    await server.stop();
    expect(warnings(server)).toEqual([]);
  });
});

test('no key, header or query reaches the log, at its most talkative', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey, LOG_REQUESTS: 'all', LOG_LEVEL: 'trace' } });
  const wrong = 'psk_a-key-that-nobody-was-given-0123456789abcdef';
  await fetch(`${server.origin}/v1/pets`, { headers: { authorization: `Bearer ${wrong}` } });
  await fetch(`${server.origin}/trpc/listPets?input=%7B%22limit%22%3A3%7D`, { headers: { authorization } });
  await fetch(`${server.origin}/trpc/no`, { headers: { authorization, cookie: 'session=in-a-cookie' } });
  await twoCalls(server);
  expect(requests(server)).toHaveLength(5);
  for (const secret of [apiKey, wrong, 'of-the-query', 'limit', 'in-a-cookie', 'Bearer', 'authorization']) {
    expect(server.stdout()).not.toContain(secret);
  }
});

/** A log that keeps its lines, and an exchange that differs from one that was answered 200 as is said. */
function keptLines(options: Parameters<typeof requestLog>[1] = { LOG_REQUESTS: 'errors' }) {
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const log = Object.assign(pino({ level: 'info' }, { write }), { line: write });
  const report = requestLog(log, options);
  return {
    end: () => report?.end(),
    report: (change: Partial<Exchange>) =>
      report?.onExchange({
        requestId: 'the-id',
        method: 'GET',
        path: '/v1/pets',
        face: 'rest',
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
const failing = { status: 503, error: new Error('away', { cause: new StoreError('unavailable', 'away') }) };

describe('of rejected requests of one kind', () => {
  test.each([
    ['a status', unauthorized, { level: 30, status: 401 }],
    ['a limit that the client met', { status: 429, limit: 'rate' } as const, { level: 30, limit: 'rate' }],
    ['a limit of the process', shed, { level: 40, status: 503, limit: 'queue-time' }],
    ['a failure of the store', failing, { level: 50, status: 503, store: 'unavailable' }],
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

  test('each gets a line with LOG_REQUESTS=all', () => {
    const { report, lines } = keptLines({ LOG_REQUESTS: 'all' });
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

describe('a failure that is not the store’s', () => {
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
          stack: expect.stringContaining('log.test.ts'),
        },
      },
    ]);
  });
});

describe('lines of the two ways to write one', () => {
  /** What a process writes that opens a log and then runs this. */
  async function written(code: string, { WORKERS } = { WORKERS: 1 }) {
    const from = JSON.stringify(new URL('log.ts', import.meta.url).href);
    const open = `import { openLog } from ${from}; const log = openLog({ LOG_LEVEL: 'info', WORKERS: ${WORKERS} });`;
    const flags = ['--conditions=@petstore/source', '--input-type=module'];
    return promisify(execFile)(process.execPath, [...flags, '--eval', `${open} ${code}`]);
  }

  test.each([
    [
      'come out in the order that they were written in',
      `log.line('{"msg":"1"}\\n'); log.error('2'); log.line('{"msg":"3"}\\n'); log.info('4'); await log.end();`,
      ['1', '2', '3', '4'],
    ],
    [
      'come out where the process exits in the same turn',
      `log.line('{"msg":"1"}\\n'); process.exit(0);`,
      ['1'],
    ],
    [
      'are nothing to a log that has ended',
      `log.info('1'); await log.end(); log.line('{"msg":"2"}\\n'); await new Promise(setImmediate);`,
      ['1'],
    ],
  ])('%s', async (_what, code, lines) => {
    const { stdout } = await written(code);
    expect([...stdout.matchAll(/"msg":"(.*?)"/g)].map(([, msg]) => msg)).toEqual(lines);
  });

  test('go out in pieces that a pipe takes whole, whatever script they are in', async () => {
    const line = JSON.stringify(`{"msg":"${'€'.repeat(300)}"}\n`);
    const sizes = await written(
      `const { default: fs } = await import('node:fs'); const { write } = fs;
       fs.write = (fd, text, ...more) => {
         write(2, String(Buffer.byteLength(text)) + '\\n', () => {});
         write(fd, text, ...more);
       };
       for (let count = 0; count < 20; count += 1) log.line(${line});
       await log.end();`,
      { WORKERS: 2 },
    );
    expect(Math.max(...sizes.stderr.split('\n').map(Number))).toBeLessThanOrEqual(4096);
  });
});
