import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { collectGarbage } from '@petstore/testing/collectGarbage';
import { lives } from '@petstore/testing/lives';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Workers } from './workers.ts';
import { failures } from '../testing/failures.ts';

/** Waits until a check passes. The timeout allows for a busy machine. */
const until = (check: () => unknown) => vi.waitFor(check, { interval: 5 });

/** Creates workers that run a script of the test instead of the service. */
async function scriptedWorkers(
  script: string,
  count = 1,
  preventRestart: () => string | undefined = () => undefined,
) {
  const folder = await temporaryFolder();
  const file = join(folder, 'worker.mjs');
  // A message listener keeps the process running while its parent is connected.
  await writeFile(file, `process.on('message', () => {});\n${script}`);
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn(), fatal: vi.fn() };
  const onEnded = vi.fn();
  const workers = new Workers({ count, port: 1, log, onEnded, preventRestart });
  const [, main = ''] = process.argv;
  process.argv[1] = file;
  onTestFinished(async () => {
    await workers.stop(0);
    process.argv[1] = main;
  });
  return { workers, log, onEnded, folder };
}

const listens = `process.send({ type: 'listening', origin: String(process.pid) });`;

test('the delay before a replacement doubles up to 10 s, and is reset by a worker that lives for 10 s', async () => {
  const { workers, onEnded } = await scriptedWorkers(listens);
  await workers.start(() => {});
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  /** Kills the worker after `lifeMs`. @returns the delay of its replacement */
  const delayAfter = async (lifeMs: number) => {
    vi.advanceTimersByTime(lifeMs);
    const ended = new Promise((resolve) => onEnded.mockImplementationOnce(resolve));
    workers.kill();
    await ended;
    const begun = performance.now();
    vi.advanceTimersToNextTimer();
    return performance.now() - begun;
  };
  const delays: number[] = [];
  for (let ended = 0; ended < 10; ended += 1) delays.push(await delayAfter(0));
  expect(delays).toEqual([0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  expect([await delayAfter(10_000), await delayAfter(0)]).toEqual([0, 0]);
});

test('a worker that was starting during a reload of the certificate gets SIGHUP once it listens', async () => {
  const { workers, log } = await scriptedWorkers(`process.on('SIGHUP', () => process.exit(7));\n${listens}`);
  const starting = workers.start(() => {});
  workers.reload();
  await starting;
  await until(() =>
    expect(log.error).toHaveBeenCalledWith(
      expect.objectContaining({ code: 7, signal: null }),
      'worker exited',
    ),
  );
});

test('start resolves although another worker neither listens nor exits', async () => {
  const { workers } = await scriptedWorkers(
    `if (JSON.parse(process.env.PETSTORE_RUNTIME_WORKER).isFirst) ${listens}`,
    2,
  );
  const { origin } = await workers.start(() => {});
  expect(origin).toMatch(/^\d+$/);
});

test('start rejects if the process of the first worker cannot be created', async () => {
  const { workers } = await scriptedWorkers(listens);
  const { execPath } = process;
  process.execPath = `${execPath}-none`;
  onTestFinished(() => void (process.execPath = execPath));
  await expect(workers.start(() => {})).rejects.toThrow('A worker exited before it was listening');
});

test('a stop starts no workers although the first worker completes its start on SIGTERM', async () => {
  const { workers, onEnded, folder } = await scriptedWorkers(
    `import { writeFileSync } from 'node:fs';
    process.on('SIGTERM', () => process.send({ type: 'listening' }, () => process.exit()));
    writeFileSync(new URL('started', import.meta.url), '');
    if (!JSON.parse(process.env.PETSTORE_RUNTIME_WORKER).isFirst) ${listens}`,
    3,
  );
  const starting = workers.start(() => {});
  await until(() => access(join(folder, 'started')));
  await workers.stop(60_000);
  await starting;
  // Ends whatever was started during the first stop.
  await workers.stop(0);
  expect(onEnded.mock.calls).toEqual([[1]]);
});

/** Runs the given number of pings, 2 s each, without waiting. */
function pings() {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  return (count: number) => void vi.advanceTimersByTime(2_000 * count);
}

test('a worker that does not respond is logged once after 10 s, counted, not requested, and logged when it responds', async () => {
  const passPings = pings();
  const { workers, log } = await scriptedWorkers(`
    let requests = 0;
    process.on('message', ({ type, id }) => process.send({ type, id, reason: null, metrics: [requests += 1] }));
    ${listens}
  `);
  const pid = Number((await workers.start(() => {})).origin);
  const isPinged = { worker: pid };
  for (let stops = 1; stops <= 2; stops += 1) {
    expect(workers.responding()).toBe(1);
    process.kill(pid, 'SIGSTOP');
    passPings(5);
    expect([workers.responding(), log.error.mock.calls.length]).toEqual([1, stops - 1]);
    passPings(10);
    expect(workers.responding()).toBe(0);
    expect(log.error).toHaveBeenLastCalledWith(isPinged, 'worker has not responded for 10 s');
    expect(log.error).toHaveBeenCalledTimes(stops);
    expect(await workers.metrics()).toEqual([]);
    await expect(workers.ready()).rejects.toMatchObject({ reason: 'unavailable' });
    process.kill(pid, 'SIGCONT');
    await until(() => expect(log.info).toHaveBeenCalledTimes(stops));
    expect(log.info).toHaveBeenLastCalledWith(isPinged, 'worker responds again');
    // Only one ping of each stop, and the requests for metrics, reached it.
    expect(await workers.metrics()).toEqual([{ process: 1, metrics: [stops * 2] }]);
  }
});

test('a worker that has not started 10 s after its process is logged, and its start is no response', async () => {
  const passPings = pings();
  const { workers, log } = await scriptedWorkers(`setTimeout(() => { ${listens} }, 300);`);
  const starting = workers.start(() => {});
  passPings(6);
  const worker = log.error.mock.lastCall?.[0].worker as number;
  expect(log.error.mock.calls).toEqual([[{ worker }, 'worker has not started for 10 s']]);
  expect(workers.responding()).toBe(0);
  await starting;
  expect(workers.responding()).toBe(1);
  expect(log.info).not.toHaveBeenCalled();
});

test('workers are not ready while the only listening worker is stopping and its replacement is starting', async () => {
  const { workers } = await scriptedWorkers(`
    process.on('message', ({ type, id }) => process.send({ type, id, reason: null }));
    process.on('SIGTERM', () => process.send({ type: 'stopping' }));
    if (JSON.parse(process.env.PETSTORE_RUNTIME_WORKER).isFirst) ${listens}
  `);
  const pid = Number((await workers.start(() => {})).origin);
  await workers.ready();
  process.kill(pid, 'SIGTERM');
  await until(() => expect(workers.ready()).rejects.toThrow('The service is not ready'));
  expect(lives(pid)).toBe(true);
});

test('responses of workers are not retained while the workers live', async () => {
  const { workers } = await scriptedWorkers(`
    process.on('message', ({ type, id }) => process.send({ type, id, metrics: [] }));
    ${listens}
  `);
  await workers.start(() => {});
  const responses = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const [report] = await workers.metrics();
      return report && new WeakRef(report.metrics);
    }),
  );
  await until(() => {
    collectGarbage();
    expect(responses.filter((response) => response?.deref() !== undefined)).toHaveLength(0);
  });
});

test.each(failures)('a worker is replaced, and the error logged, if preventRestart %s', async (_, fail) => {
  const { workers, log } = await scriptedWorkers(listens, 1, fail as () => undefined);
  const { origin } = await workers.start(() => {});
  process.kill(Number(origin), 'SIGKILL');
  await until(() =>
    expect(log.error.mock.calls).toContainEqual([
      { err: expect.any(Error) as Error },
      'preventRestart failed, so the worker is replaced',
    ]),
  );
  await until(() => expect(workers.responding()).toBe(1));
});
