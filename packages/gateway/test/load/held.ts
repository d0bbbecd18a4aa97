/**
 * Holds 10,000 connections with one request every 8 s each, adds clients that read or write slowly or send nothing, and
 * measures the latency of other clients. `npm run test:held -w @petstore/server` measures the pet store's process,
 * with `-- --long` for 30 minutes.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { megabytes } from '../trpcClients/startRpcProcess.ts';
import type { Held, HolderMessage } from './holder.ts';
import type { Measured } from './levels.ts';
import type { LoadResult } from './openLoop.ts';
import type { StartUnderLoad, UnderLoad } from './petsUnderLoad.ts';
import { type Pinned, startPinned } from './pinned.ts';
import { getOne } from './requests.ts';
import { type Generator, startGenerator } from './startGenerator.ts';

interface HeldOptions {
  readonly connections: number;
  /** Each round measures once without and once with the held connections. */
  readonly rounds: number;
  /** The duration of each measurement. */
  readonly seconds: number;
  /** Whether latency and rejections are checked. They are meaningful only on an otherwise idle machine. */
  readonly isTimed: boolean;
}

export const shortHeld: HeldOptions = { connections: 10_000, rounds: 3, seconds: 10, isTimed: true };
export const longHeld: HeldOptions = { connections: 10_000, rounds: 10, seconds: 90, isTimed: true };
/** For the test suite, where other tests run at the same time: checks only that all requests are served. */
export const briefHeld: HeldOptions = { connections: 1000, rounds: 2, seconds: 2, isTimed: false };

/** The largest allowed ratio of the p99 with held connections to the p99 without them. */
const maxRatio = 2;
/** Normal traffic on separate connections: a little more than a tenth of what one core can serve. */
const normalTraffic = { connections: 100, rate: 3000 };
/** Files that the process has open in addition to its connections. */
const otherFiles = 1000;
const holderFile = fileURLToPath(new URL('holder.ts', import.meta.url));

export async function holdConnections(start: StartUnderLoad, options: HeldOptions): Promise<Measured> {
  const server = await start();
  const holder = startPinned(1, holderFile);
  let generator: Generator | undefined;
  try {
    generator = await startGenerator(server.port, normalTraffic.connections, getOne);
    return await measure(server, holder, generator, options);
  } finally {
    await generator?.stop();
    await holder.stop();
    await server.stop();
  }
}

async function measure(
  server: UnderLoad,
  holder: Pinned,
  generator: Generator,
  { connections, rounds, seconds, isTimed }: HeldOptions,
): Promise<Measured> {
  const count = Math.min(connections, openFiles() - otherFiles);
  const measureOnce = () => generator.run({ rate: normalTraffic.rate, seconds });
  // Warm-up: first calls are slow, and memory that was used once stays allocated.
  await generator.run({ rate: undefined, seconds: Math.min(3, seconds) });
  await measureOnce();

  const without: LoadResult[] = [];
  const withHeld: LoadResult[] = [];
  const held: Held[] = [];
  let bytesEach = 0;
  for (let round = 0; round < rounds; round += 1) {
    without.push(await measureOnce());
    const before = await server.rss();
    const hold: HolderMessage = { hold: { port: server.port, connections: count } };
    await holder.call<object>(hold);
    if (round === 0) {
      await sleep(1000);
      bytesEach = ((await server.rss()) - before) / count;
    }
    withHeld.push(await measureOnce());
    held.push(await holder.call<Held>({ drop: true } satisfies HolderMessage));
    await sleep(1000);
  }

  const p99 = (results: readonly LoadResult[]) => median(results.map(({ latency }) => latency.p99));
  const ratio = p99(withHeld) / p99(without);
  const failures = [...without, ...withHeld].reduce((sum, result) => sum + result.failures, 0);
  const heldFailures = held.reduce((sum, each) => sum + each.failures, 0);
  const rejected = [...without, ...withHeld, ...held].reduce((sum, each) => sum + each.rejected, 0);
  const problems: string[] = [];
  if (count < connections) problems.push(`only ${count} connections fit the limit of open files`);
  if (failures > 0) problems.push(`${failures} requests of normal traffic were not served`);
  if (heldFailures > 0) problems.push(`${heldFailures} requests on held connections were not served`);
  if (isTimed && rejected > 0) problems.push(`${rejected} requests were rejected`);
  if (isTimed && ratio > maxRatio) {
    problems.push(`the p99 of normal traffic was ${ratio.toFixed(2)} times the p99 without held connections`);
  }
  return {
    measured: {
      connections: count,
      rate: normalTraffic.rate,
      p99: {
        without: without.map(({ latency }) => latency.p99),
        with: withHeld.map(({ latency }) => latency.p99),
        ratio,
      },
      latency: { without: without.at(-1)?.latency, with: withHeld.at(-1)?.latency },
      pause: { without: without.at(-1)?.pause, with: withHeld.at(-1)?.pause },
      bytesPerConnection: Math.round(bytesEach),
      rssMB: megabytes(await server.rss()),
      held,
    },
    problems,
  };
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Returns how many files a process may open. Node raises its soft limit to the hard limit. */
function openFiles(): number {
  const limit = /Max open files +\d+ +(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === undefined ? Infinity : Number(limit);
}
