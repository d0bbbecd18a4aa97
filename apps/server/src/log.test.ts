import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { requestLog } from './log.ts';
import { logLines, type RunningServer } from './testing/petStoreProcess.ts';
import { apiKey, newFolder } from './testing/newFolder.ts';

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
  test('errors, the default: a line for what is not 2xx, with the X-Request-Id of the answer', async () => {
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

test('the line of a start says how many procedures are called which way', async () => {
  const { serve } = await newFolder();
  const server = await serve({ env: { API_KEY: apiKey } });
  expect(logLines(server).find(({ msg }) => msg === 'listening')).toMatchObject({
    procedures: { direct: 3, chain: 0, trpc: 0 },
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

describe('requests that are refused for load', () => {
  test('get one line a second together, with their number', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const lines: string[] = [];
    const write = (text: string) => void lines.push(text);
    const log = Object.assign(pino({ level: 'info' }, { write }), { line: write });
    const tell = requestLog(log, { LOG_REQUESTS: 'errors' });
    const refuse = () =>
      tell?.({
        requestId: 'the-id',
        method: 'GET',
        path: '/v1/pets',
        face: 'rest',
        operation: undefined,
        status: 503,
        isStream: false,
        procedures: [],
        calls: 1,
        bytesIn: 0,
        bytesOut: 79,
        limit: 'queue-time',
        durationMs: 0,
        error: undefined,
      });
    for (const count of [3, 2]) {
      for (let left = count; left > 0; left -= 1) refuse();
      vi.advanceTimersByTime(1000);
    }
    vi.advanceTimersByTime(5000);
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 50, requests: 3, msg: 'refused for load' },
      { level: 50, requests: 2, msg: 'refused for load' },
    ]);
  });
});

describe('a failure that nobody expected', () => {
  test('is logged as an error with the request id and its cause', () => {
    const lines: string[] = [];
    const write = (text: string) => void lines.push(text);
    const log = Object.assign(pino({ level: 'info' }, { write }), { line: write });
    requestLog(log, { LOG_REQUESTS: 'errors' })?.({
      requestId: 'the-id',
      method: 'GET',
      path: '/v1/pets',
      face: 'rest',
      operation: 'listPets',
      status: 500,
      isStream: false,
      procedures: ['listPets'],
      calls: 1,
      bytesIn: 0,
      bytesOut: 79,
      limit: undefined,
      durationMs: 1,
      error: new Error('the store fell over', { cause: new Error('the disk is gone') }),
    });
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
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
