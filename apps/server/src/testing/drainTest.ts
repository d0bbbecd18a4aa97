import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { countArgument } from '@petstore/testing/countArgument';
import {
  addTally,
  drainCalls,
  type DrainRound,
  drainStreams,
  emptyTally,
  problemsOf,
} from '@petstore/testing/drain';
import { drainSocketCalls, socketProblems } from './drainSocketCalls.ts';
import { namesIn } from './namesIn.ts';
import { listening, logLines, run, type RunOptions } from './petStoreProcess.ts';

// Tests SIGTERM under load and kill -9 of workers in many rounds, on the bundle of `npm start`. Usage: drainTest.ts [rounds]
const rounds = countArgument('rounds', process.argv[2], 50);
const entry = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** The service of the runtime's tests, which has event streams and long calls. */
const streamingEntry = fileURLToPath(
  new URL('../../../../packages/runtime/src/testing/service.ts', import.meta.url),
);
const apiKey = 'a-key-to-drain-with';
const replacedMs = 1_000;

/** Starts a server on a new data folder, runs `use` and ends the server. */
async function withServer<T>(
  options: RunOptions,
  use: (server: Awaited<ReturnType<typeof listening>>, dataDir: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-drain-'));
  const dataDir = join(folder, 'data');
  const env = { DATA_DIR: dataDir, PORT: '0', API_KEY: apiKey, ...options.env };
  const started = run({ ...options, env });
  try {
    return await use(await listening(started), dataDir);
  } finally {
    started.child.kill('SIGKILL');
    await started.exited;
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs the rounds and prints their totals.
 * @returns true if nothing was lost
 */
async function report(what: string, round: () => Promise<DrainRound>): Promise<boolean> {
  const sum = emptyTally();
  const exits: number[] = [];
  const failures: object[] = [];
  for (let count = 0; count < rounds; count += 1) {
    const drained = await round();
    addTally(sum, drained.tally);
    exits.push(drained.exitMs);
    const problems = problemsOf(drained);
    if (Object.keys(problems).length > 0) failures.push(problems);
  }
  const verdict = failures.length === 0 ? 'met' : `MISSED ${JSON.stringify(failures)}`;
  process.stdout.write(
    `${what}, ${rounds} rounds: ${verdict}; exit after ${Math.max(...exits).toFixed(0)} ms at most\n  ${JSON.stringify(sum)}\n`,
  );
  return failures.length === 0;
}

/**
 * Kills a worker and waits for its replacement.
 * @returns the duration in milliseconds
 */
const kill = () =>
  withServer({ entry, env: { WORKERS: '2' } }, async (server) => {
    const workers = () => logLines(server).filter(({ msg }) => msg === 'worker listening');
    process.kill(Number(workers()[0]?.pid), 'SIGKILL');
    const startedAt = performance.now();
    while (workers().length < 3) await sleep(1);
    return performance.now() - startedAt;
  });

async function reportKills(): Promise<boolean> {
  const times: number[] = [];
  for (let count = 0; count < rounds; count += 1) times.push(await kill());
  times.sort((a, b) => a - b);
  const slowest = times.at(-1) ?? NaN;
  const late = times.filter((ms) => ms >= replacedMs).length;
  process.stdout.write(
    `kill -9 of a worker, ${rounds} rounds: ${late === 0 ? 'met' : 'MISSED'}; replaced after ${times[times.length >> 1]?.toFixed(0)} ms (median), ${slowest.toFixed(0)} ms at most, ${late} later than ${replacedMs} ms\n`,
  );
  return late === 0;
}

/** Stops a service while tRPC's clients wait for calls of 3 s on WebSockets, and make others. */
async function reportSocketCalls(server: string): Promise<boolean> {
  const failures: object[] = [];
  let calls = 0;
  let unavailable = 0;
  let slowestMs = 0;
  for (let count = 0; count < rounds; count += 1) {
    const env = { NOTES: '/dev/null', OPTIONS: JSON.stringify({ server }) };
    const drained = await withServer({ entry: streamingEntry, env }, (each) => drainSocketCalls(each, 3000));
    calls += drained.completed;
    unavailable += drained.unavailable;
    slowestMs = Math.max(slowestMs, drained.exitMs);
    const problems = socketProblems(drained);
    if (problems.length > 0) failures.push(problems);
  }
  const verdict = failures.length === 0 ? 'met' : `MISSED ${JSON.stringify(failures)}`;
  process.stdout.write(
    `SIGTERM, long calls on WebSockets, ${server}, ${rounds} rounds: ${verdict}; exit after ${slowestMs.toFixed(0)} ms at most; ${calls} calls with a result, ${unavailable} with 503\n`,
  );
  return failures.length === 0;
}

const petStore = (WORKERS: string) => () =>
  withServer({ entry, env: { WORKERS } }, (server, dataDir) =>
    drainCalls({ ...server, apiKey, path: '/v1/pets', procedure: 'createPet' }, () => namesIn(dataDir)),
  );

const isGood = [
  await report('SIGTERM, one process', petStore('1')),
  await report('SIGTERM, two workers', petStore('2')),
  await report('SIGTERM, streams of events', () =>
    withServer({ entry: streamingEntry }, (server) =>
      drainStreams({ ...server, apiKey, procedure: 'wait' }, ['/v1/ticks', '/trpc/ticks']),
    ),
  ),
  await reportSocketCalls('uws'),
  await reportSocketCalls('node'),
  await reportKills(),
].every(Boolean);
process.exitCode = isGood ? 0 : 1;
