/**
 * Holds 10,000 connections, each of which asks once every 8 s, with clients that read or write slowly or say nothing, and
 * measures what others notice. On the pet store's process: `npm run test:held`, `npm run test:held -- --long`
 * (30 minutes).
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { megabytes } from '../rpcClients/startRpcProcess.ts';
import type { Held, HolderMessage } from './holder.ts';
import type { Measured } from './levels.ts';
import type { LoadResult } from './openLoop.ts';
import type { StartUnderLoad, UnderLoad } from './petsUnderLoad.ts';
import { type Pinned, startPinned } from './pinned.ts';
import { getOne } from './requests.ts';
import { type Generator, startGenerator } from './startGenerator.ts';

interface HeldOptions {
  readonly connections: number;
  /** Each is a time without them and a time with them. */
  readonly rounds: number;
  readonly seconds: number;
  /** Whether times count, and refusals: they do where the machine has nothing else to do. */
  readonly isTimed: boolean;
}

export const shortHeld: HeldOptions = { connections: 10_000, rounds: 3, seconds: 10, isTimed: true };
export const longHeld: HeldOptions = { connections: 10_000, rounds: 10, seconds: 90, isTimed: true };
/** Whether all are served, in the midst of other tests. */
export const briefHeld: HeldOptions = { connections: 1000, rounds: 2, seconds: 2, isTimed: false };

/** How many times the p99 without them it may be with them. */
const mostRatio = 2;
/** Normal traffic, on connections of its own: a tenth of what one core can do, and something. */
const normal = { connections: 100, rate: 3000 };
/** What a process has open besides. */
const otherFiles = 1000;
const holderFile = fileURLToPath(new URL('holder.ts', import.meta.url));

export async function holdConnections(start: StartUnderLoad, options: HeldOptions): Promise<Measured> {
  const server = await start();
  const holder = startPinned(1, holderFile);
  let generator: Generator | undefined;
  try {
    generator = await startGenerator(server.port, normal.connections, getOne);
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
  const run = () => generator.run({ rate: normal.rate, seconds });
  // What runs for the first time is slow, and memory that was used once stays.
  await generator.run({ rate: undefined, seconds: Math.min(3, seconds) });
  await run();

  const without: LoadResult[] = [];
  const withThem: LoadResult[] = [];
  const held: Held[] = [];
  let bytesEach = 0;
  for (let round = 0; round < rounds; round += 1) {
    without.push(await run());
    const before = await server.rss();
    const hold: HolderMessage = { hold: { port: server.port, connections: count } };
    await holder.call<object>(hold);
    if (round === 0) {
      await sleep(1000);
      bytesEach = ((await server.rss()) - before) / count;
    }
    withThem.push(await run());
    held.push(await holder.call<Held>({ drop: true } satisfies HolderMessage));
    await sleep(1000);
  }

  const p99 = (results: readonly LoadResult[]) => median(results.map(({ latency }) => latency.p99));
  const ratio = p99(withThem) / p99(without);
  const failed = [...without, ...withThem].reduce((sum, result) => sum + result.failed, 0);
  const heldFailed = held.reduce((sum, each) => sum + each.failed, 0);
  const refused = [...without, ...withThem, ...held].reduce((sum, each) => sum + each.refused, 0);
  const faults: string[] = [];
  if (count < connections) faults.push(`only ${count} connections fit the limit of open files`);
  if (failed > 0) faults.push(`${failed} requests of normal traffic were not served`);
  if (heldFailed > 0) faults.push(`${heldFailed} requests on held connections were not served`);
  if (isTimed && refused > 0) faults.push(`${refused} requests were refused`);
  if (isTimed && ratio > mostRatio) {
    faults.push(`the p99 of normal traffic was ${ratio.toFixed(2)} times what it is without them`);
  }
  return {
    measured: {
      connections: count,
      rate: normal.rate,
      p99: {
        without: without.map(({ latency }) => latency.p99),
        with: withThem.map(({ latency }) => latency.p99),
        ratio,
      },
      latency: { without: without.at(-1)?.latency, with: withThem.at(-1)?.latency },
      pause: { without: without.at(-1)?.pause, with: withThem.at(-1)?.pause },
      bytesPerConnection: Math.round(bytesEach),
      rssMB: megabytes(await server.rss()),
      held,
    },
    faults,
  };
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** How many files a process may have open: Node raises its limit to the hard one. */
function openFiles(): number {
  const limit = /Max open files +\d+ +(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === undefined ? Infinity : Number(limit);
}
