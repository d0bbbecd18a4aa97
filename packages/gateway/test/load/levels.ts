/**
 * Loads a server at 50 %, 80 % and 120 % of the maximum, and measures what it does with the excess. On the pet store's
 * process: `npm run test:load` (short: 10 s each), `npm run test:load -- --long` (5 minutes each).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { megabytes } from '../rpcClients/startRpcProcess.ts';
import type { LoadResult } from './openLoop.ts';
import type { StartUnderLoad, UnderLoad } from './petsUnderLoad.ts';
import { getOne } from './requests.ts';
import { type Generator, startGenerator } from './startGenerator.ts';

interface LevelOptions {
  /** How long each level lasts. */
  readonly seconds: number;
  /** How long the maximum is looked for, before and after each. */
  readonly maximumSeconds: number;
  /** Of the maximum. */
  readonly shares: readonly number[];
  /** Whether times count, and what is served: they do where the machine has nothing else to do. */
  readonly isTimed: boolean;
}

const shares = [0.5, 0.8, 1.2];
export const shortLevels: LevelOptions = { seconds: 10, maximumSeconds: 3, shares, isTimed: true };
export const longLevels: LevelOptions = { seconds: 300, maximumSeconds: 10, shares, isTimed: true };
/** Whether it refuses at all, in the midst of other tests. */
export const briefLevels: LevelOptions = { seconds: 2, maximumSeconds: 1, shares: [3], isTimed: false };

/** What must hold at 120 %: of the maximum, and for 99 of 100 refusals in milliseconds. */
const overload = { goodput: 0.9, refusalMs: 100 };
/** At 50 %, in milliseconds. */
const mostP99 = 10;

/** Enough to keep the server busy, few enough that none of them waits for long. */
const connectionsAtMaximum = 256;
/**
 * Each has one request on its way at most, so what the server has to refuse must fit them: 120 % of 65,000 a second,
 * each answered within 100 ms, are 7,800. With fewer, requests wait at the client, where no server sees them.
 */
const connections = 8000;

interface Level extends LoadResult {
  /** Of the maximum. */
  readonly share: number;
  /** Requests a second, before and after it: where they differ much, the machine had other things to do. */
  readonly maximum: readonly [before: number, after: number];
  /** Of the maximum's mean. */
  readonly goodputShare: number;
  readonly cpuShare: number;
  readonly rssMB: { readonly first: number; readonly last: number; readonly highest: number };
}

/** What a command prints. */
export interface Measured {
  readonly measured: object;
  /** The goals that were missed. */
  readonly faults: readonly string[];
}

export async function loadLevels(start: StartUnderLoad, options: LevelOptions): Promise<Measured> {
  const server = await start();
  const generators: Generator[] = [];
  try {
    const few = await startGenerator(server.port, connectionsAtMaximum, getOne);
    generators.push(few);
    const many = await startGenerator(server.port, connections, getOne);
    generators.push(many);
    return await measure(server, few, many, options);
  } finally {
    for (const generator of generators) await generator.stop();
    await server.stop();
  }
}

async function measure(
  server: UnderLoad,
  few: Generator,
  many: Generator,
  { seconds, maximumSeconds, shares: asked, isTimed }: LevelOptions,
): Promise<Measured> {
  const maximum = async () => (await few.run({ rate: undefined, seconds: maximumSeconds })).goodput;
  // What runs for the first time is slow.
  await maximum();
  await many.run({ rate: (await maximum()) / 2, seconds: maximumSeconds });

  // A thousand within a millisecond.
  const burst = await many.run({ rate: 1_000_000, seconds: 0.001 });

  const faults: string[] = [];
  const expect = (isMet: boolean, fault: string) => {
    if (!isMet) faults.push(fault);
  };
  const levels: Level[] = [];
  expect(burst.failed === 0, `of a lone burst ${burst.failed} were lost`);
  if (isTimed) expect(burst.refused === 0, `of a lone burst ${burst.refused} were refused`);
  for (const share of asked) {
    const before = await maximum();
    const cpuBefore = await server.cpuMs();
    const watched = watchMemory(server);
    const result = await many.run({ rate: share * before, seconds });
    const rssMB = await watched();
    const cpuShare = ((await server.cpuMs()) - cpuBefore) / seconds / 1000;
    const after = await maximum();
    const goodputShare = result.goodput / ((before + after) / 2);
    const level = { share, maximum: [before, after], goodputShare, cpuShare, rssMB, ...result } as const;
    levels.push(level);
    const at = `at ${share * 100} %`;
    expect(result.failed === 0, `${at} ${result.failed} requests were neither served nor refused`);
    expect(rssMB.last <= rssMB.first * 1.1 + 24, `${at} memory grew from ${rssMB.first} to ${rssMB.last} MB`);
    if (share > 1) expect(result.refused > 0, `${at} nothing was refused`);
    if (!isTimed) continue;
    expect(result.unsent === 0, `${at} ${result.unsent} requests found no connection`);
    if (share < 1) {
      expect(result.refused === 0, `${at} ${result.refused} requests were refused`);
    } else {
      const { p99 } = result.refusal;
      expect(p99 <= overload.refusalMs, `${at} 99 of 100 refusals took up to ${p99} ms`);
      expect(goodputShare >= overload.goodput, `${at} goodput was ${goodputShare.toFixed(3)} of the maximum`);
    }
    if (share === 0.5) expect(result.latency.p99 <= mostP99, `${at} the p99 was ${result.latency.p99} ms`);
  }
  return { measured: { seconds, connections, burst: burst.latency, levels }, faults };
}

/** @returns what ends it: means of the first and the last fifth, since one figure alone may be before or after a collection */
function watchMemory(server: UnderLoad): () => Promise<Level['rssMB']> {
  const samples: number[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    while (!stop.signal.aborted) {
      samples.push(await server.rss());
      await sleep(200);
    }
  })();
  return async () => {
    stop.abort();
    await watching;
    const fifth = Math.ceil(samples.length / 5);
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return {
      first: megabytes(mean(samples.slice(0, fifth))),
      last: megabytes(mean(samples.slice(-fifth))),
      highest: megabytes(Math.max(...samples)),
    };
  };
}
