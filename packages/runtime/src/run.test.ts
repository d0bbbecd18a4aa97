import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { lives } from '@petstore/testing/lives';
import { logLines } from '@petstore/testing/serviceProcess';
import { measured } from '@petstore/testing/slowness';
import { describe, expect, test, vi } from 'vitest';
import type { RunOptions } from './options.ts';
import { run } from './run.ts';
import { hangupIgnored } from './signals/stopOnSignals.ts';
import { callInFlight, type Notes, startNotes, startProcess } from './testing/startNotes.ts';

const severalWorkers = process.platform === 'linux' ? 2 : 1;

/** Waits until a check passes. The timeout allows for a busy machine. */
const until = (check: () => unknown) => vi.waitFor(check, { interval: 5 });

const rootWarning =
  'running as root: run the service as its own user, which owns only the files that the service writes';

/** The process ids of workers that listen or have listened. */
const workersOf = ({ logged }: Notes) => logged('worker listening').map(({ pid }) => Number(pid));

test('run serves any router with health routes, a docs page, logs and metrics', async () => {
  const { origin, admin, logged } = await startNotes();
  for (const at of [origin, admin]) {
    expect(await (await fetch(`${at}/readyz`)).json()).toEqual({ status: 'ok' });
  }
  expect(await (await fetch(`${origin}/`)).text()).toContain('<div id="reference">');
  expect((await fetch(`${origin}/v1/notes?limit=many`)).status).toBe(400);
  await until(() =>
    expect(logged('request').at(-1)).toMatchObject({
      path: '/v1/notes',
      operation: 'listNotes',
      status: 400,
    }),
  );
  const text = await (await fetch(`${admin}/metrics`)).text();
  expect(text).toContain('gateway_requests_total{protocol="rest",operation="listNotes",status="4xx"} 1\n');
  expect(text).toContain('notes_open 1\n');
  expect(text).toMatch(/^process_resident_memory_bytes \d/m);
  expect((await fetch(`${origin}/metrics`)).status).toBe(404);
  expect(logged(rootWarning)).toHaveLength(process.getuid?.() === 0 ? 1 : 0);
});

describe('signals', () => {
  test.for([...new Set([1, severalWorkers])])(
    'the first signal completes calls in flight while /readyz is 503, and ends the process with code 0: workers: %i',
    async (workers) => {
      const notes = await startNotes({ workers });
      const endCall = await callInFlight(notes);
      expect((await fetch(`${notes.admin}/readyz`)).status).toBe(200);
      notes.child.kill('SIGINT');
      await sleep(20);
      // Under npm, a process gets it twice.
      notes.child.kill('SIGINT');
      await until(() => expect(notes.logged('stopping')).not.toEqual([]));
      const ready = await fetch(`${notes.admin}/readyz`);
      expect([ready.status, await ready.json()]).toEqual([
        503,
        { status: 'unavailable', reason: 'draining' },
      ]);
      expect(await endCall()).toMatch(/^HTTP\/1\.1 201 /);
      expect(await notes.exited).toEqual({ code: 0, signal: null });
      const cutOff = notes.logged('stopped').flatMap((line) => line['cutOff'] ?? []);
      expect(cutOff).toEqual(Array(workers).fill(0));
      expect(notes.stderr()).toBe('closed\n'.repeat(workers));
    },
  );

  test.for([...new Set([1, severalWorkers])])(
    'SIGHUP without TLS is logged, and the service continues: workers: %i',
    async (workers) => {
      const notes = await startNotes({ workers });
      const pids = [notes.child.pid, ...workersOf(notes)];
      for (const pid of pids) {
        process.kill(Number(pid), 'SIGHUP');
        await until(() => expect(notes.logged(hangupIgnored).map((line) => line['pid'])).toContain(pid));
      }
      expect(notes.logged(hangupIgnored)).toHaveLength(pids.length);
      expect((await fetch(`${notes.origin}/readyz`)).status).toBe(200);
      expect(await notes.stop()).toEqual({ code: 0, signal: null });
    },
  );

  test('a second signal ends the process immediately', async () => {
    const notes = await startNotes({ workers: severalWorkers });
    const workers = workersOf(notes);
    await callInFlight(notes);
    notes.child.kill('SIGTERM');
    await sleep(700);
    notes.child.kill('SIGTERM');
    // A graceful shutdown would end with an exit code.
    expect(await notes.exited).toEqual({ code: null, signal: 'SIGTERM' });
    // The supervisor kills them before it ends. The kernel may take a moment.
    await until(() => expect(workers.filter(lives)).toEqual([]));
    // The worker with the call did not wait for it.
    expect(notes.logged('stopped').length).toBeLessThan(severalWorkers);
  });
});

describe.runIf(process.platform === 'linux')('workers: 2', () => {
  test('a killed worker is replaced, counters do not decrease, and SIGTERM ends all workers', async () => {
    const notes = await startNotes({ workers: 2 });
    const total = async () => {
      const text = await (await fetch(`${notes.admin}/metrics`)).text();
      return Number(
        /^gateway_requests_total\{protocol="other",operation="none",status="2xx"\} (\d+)/m.exec(text)?.[1],
      );
    };
    const responses = Array.from({ length: 20 }, () =>
      fetch(`${notes.origin}/healthz`, { headers: { connection: 'close' } }).then(({ status }) => status),
    );
    expect(new Set(await Promise.all(responses))).toEqual(new Set([200]));
    expect(await total()).toBe(20);
    expect(notes.logged(rootWarning)).toHaveLength(process.getuid?.() === 0 ? 1 : 0);
    const metrics = await (await fetch(`${notes.admin}/metrics`)).text();
    expect(metrics).toContain('gateway_workers 2\n');
    expect(metrics).toContain('gateway_workers_responding 2\n');
    const [victim = 0] = workersOf(notes);
    process.kill(victim, 'SIGKILL');
    await until(() => expect(workersOf(notes)).toHaveLength(3));
    expect(await total()).toBe(20);
    expect(notes.logged('worker exited')).toMatchObject([{ worker: victim, signal: 'SIGKILL' }]);
    expect(await notes.stop()).toEqual({ code: 0, signal: null });
    expect(workersOf(notes).filter(lives)).toEqual([]);
  });

  test('a worker that gets SIGTERM is replaced once, before it has ended', async () => {
    const notes = await startNotes({ workers: 2 });
    const [leaving = 0] = workersOf(notes);
    // Enough for every worker to have one.
    const endCalls = await Promise.all(Array.from({ length: 12 }, () => callInFlight(notes)));
    process.kill(leaving, 'SIGTERM');
    await until(() => expect(workersOf(notes)).toHaveLength(3));
    expect(lives(leaving)).toBe(true);
    await Promise.all(endCalls.map((endCall) => endCall()));
    await until(() =>
      expect(notes.logged('worker exited')).toMatchObject([{ worker: leaving, code: 0, level: 30 }]),
    );
    // Responses show that the supervisor has handled the exit: it would have started another worker by now.
    for (let turns = 0; turns < 5; turns += 1) await fetch(`${notes.admin}/healthz`);
    const { pid } = notes.child;
    expect(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')).toHaveLength(2);
  });

  test('workers stop gracefully if the supervisor is killed', async () => {
    const notes = await startNotes({ workers: 2 });
    notes.child.kill('SIGKILL');
    // Both workers hold stdout. The last one closes it just before it exits.
    await notes.exited;
    await until(() => expect(workersOf(notes).filter(lives)).toEqual([]));
    expect(notes.logged('stopped')).toHaveLength(2);
  });
});

describe.runIf(process.platform === 'linux')('SIGTERM during a start with workers: 2', () => {
  /** Starts the service whose worker hangs in its start, and stops it. @returns the messages of its log */
  async function stopWhileItHangs(hangs: 'first' | 'second') {
    const service = startProcess({ workers: 2, server: 'node' }, { HANGS: hangs });
    await vi.waitFor(() => expect(service.stderr()).toBe('hangs\n'), { interval: 5 });
    service.child.kill('SIGTERM');
    const stoppedAt = performance.now();
    const exit = await service.exited;
    const exitMs = performance.now() - stoppedAt;
    const logged = logLines(service).map(
      ({ pid, msg }) => `${pid === service.child.pid ? 'supervisor' : 'worker'} ${String(msg)}`,
    );
    return { exit, exitMs, logged };
  }

  test('SIGTERM while the start of a worker hangs stops the service in order within 10 s', async () => {
    const [first, second] = await Promise.all([stopWhileItHangs('first'), stopWhileItHangs('second')]);
    for (const { exit, exitMs } of [first, second]) {
      expect(exit).toEqual({ code: 0, signal: null });
      expect(measured(exitMs)).toBeLessThan(10_000);
    }
    const ended = ['supervisor stopping', 'supervisor worker exited', 'supervisor stopped'];
    expect(first.logged).toEqual(ended);
    expect(second.logged).toEqual(
      expect.arrayContaining(['worker worker listening', 'worker stopping', 'worker stopped', ...ended]),
    );
  });
});

/** Runs a script in a process and returns its output and exit code. */
const runScript = (...lines: readonly string[]) =>
  promisify(execFile)(
    process.execPath,
    ['--conditions=trpc-gateway-source', '--input-type=module', '--eval', lines.join('\n')],
    { cwd: import.meta.dirname },
  ).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
    }),
  );

/** Runs a service with the source text of its options. */
const runServiceScript = (options: string) =>
  runScript(`import { run } from 'trpc-gateway-runtime';`, `await run({ ${options} });`);

describe('a process that calls run', () => {
  test('run without a log prints its origin and the steps of its shutdown, and survives errors of stdout and stderr, such as after its terminal was closed', async () => {
    const { stdout, ...ended } = await runServiceScript(`
      server: { server: 'node', fallbackReason: 'no other is installed.', serve: async () => ({ host: '::1', port: 1, close: async () => 0 }) },
      start({ onClose }) {
        const running = setInterval(() => {}, 1_000);
        for (const stream of [process.stdout, process.stderr]) stream.emit('error', new Error('write EIO'));
        onClose(() => clearInterval(running));
        const onListening = () => void setImmediate(() => process.kill(process.pid, 'SIGTERM'));
        return { gateway: { procedures: [] }, onListening };
      }`);
    expect({ ...ended, stdout: stdout.replace(/^running as root.*\n/, '') }).toEqual({
      code: 0,
      stdout:
        'listening on http://[::1]:1, on node:http, because no other is installed.\nstopping\nstopped\n',
      stderr: '',
    });
  });
});

/** Runs a service that cannot start, in this process. @returns what it prints before it exits with code 1 */
async function failedStart(options: object): Promise<string> {
  const printed: string[] = [];
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit with code ${code}`);
  });
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  const before = signals.map((signal) => process.listeners(signal));
  try {
    await expect(run(options as RunOptions)).rejects.toThrow('exit with code 1');
  } finally {
    exit.mockRestore();
    stderr.mockRestore();
    for (const [at, signal] of signals.entries()) {
      for (const listener of process.listeners(signal)) {
        if (!before[at]?.includes(listener)) process.removeListener(signal, listener);
      }
    }
  }
  return printed.join('');
}

describe('run with options that cannot work', () => {
  const start = () => ({ gateway: { handle() {}, procedures: [] } });

  test('run prints the stack of an unexpected error, and of an expected one the message alone', async () => {
    const failing = () => {
      throw new RangeError('too many');
    };
    expect(await failedStart({ start: failing })).toMatch(/^RangeError: too many\n {4}at /);
    expect(await failedStart({ start: failing, expectedErrors: ['RangeError'] })).toBe('too many\n');
  });

  test.each([
    [{ workers: 0 }, 'workers is 0; it must be a positive integer or "auto".'],
    [
      { listen: { port: 70_000 }, workers: 2 },
      'run.listen.port is 70000; it must be an integer from 0 to 65535.',
    ],
    [{ start: () => {} }, 'start returned undefined; it must return { gateway }'],
    [
      { start: () => ({ gateway: {}, checks: { db: 1 } }) },
      'The check db is 1; it must be a function that throws if the check fails.',
    ],
    [{ listen: { host: '192.0.2.1' } }, '192.0.2.1 is not an address of this machine'],
    [{ listen: { host: '192.0.2.1' }, workers: 2 }, '192.0.2.1 is not an address of this machine'],
  ])('run with %j prints an error and exits with code 1', async (options, sentence) => {
    expect(await failedStart({ server: 'node', start, ...options })).toContain(sentence);
  });

  test('run prints one line for each unknown option and invalid value and exits with code 1', async () => {
    const options = {
      worker: 2,
      start: 1,
      server: 'uwss',
      log() {},
      docs() {},
      telemetry: {},
      admin: { metrics() {}, ports: 1 },
    };
    expect((await failedStart(options)).trim().split('\n')).toEqual([
      '"worker" is not an option of run; did you mean "workers"?',
      'run.start is 1; it must be a function that returns { gateway }.',
      'run.server is "uwss"; it must be "uws", "node", "bun", a list of these, or an adapter: { server, serve }.',
      'run.log is a function; it must be log() of trpc-gateway-runtime/log.',
      'run.telemetry is {}; it must be the function openTelemetry of trpc-gateway-runtime/opentelemetry, not its result.',
      'run.docs is a function; it must be docsPage() of trpc-gateway-runtime/docs.',
      '"ports" is not an option of run.admin; did you mean "port"?',
      'run.admin.port is undefined; it must be an integer from 0 to 65535.',
      'run.admin.metrics is a function; it must be metrics() of trpc-gateway-runtime/metrics.',
    ]);
    expect(await failedStart({ start() {}, server: [] })).toContain('run.server is []; it must be "uws"');
  });
});

test('each entry point of trpc-gateway-runtime loads only its own dependencies', async () => {
  const { stdout } = await runScript(
    `import { registerHooks } from 'node:module';`,
    `let loaded = new Set();`,
    `registerHooks({ load(url, context, next) { loaded.add(/node_modules\\/([^/]+)/.exec(url)?.[1]); return next(url, context); } });`,
    `for (const entry of ['', '/docs', '/health', '/signals', '/log', '/metrics']) {`,
    `  loaded = new Set();`,
    `  await import('trpc-gateway-runtime' + entry);`,
    `  console.log(entry, ['pino', 'prom-client', 'negotiator', '@scalar', '@uwsjs/core', 'uWebSockets.js', 'ws', 'zod'].filter((name) => loaded.has(name)).join());`,
    `}`,
  );
  expect(stdout.split('\n')).toEqual([
    ' ',
    '/docs ',
    '/health ',
    '/signals ',
    '/log pino',
    '/metrics prom-client',
    '',
  ]);
});
