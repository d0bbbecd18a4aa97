/**
 * Loads a server at 50 %, 80 % and 120 % of its maximum throughput, and measures goodput, latency and rejections.
 * `npm run test:load -w @petstore/server` measures the pet store's process with 10 s per level; `-- --long` takes 5 minutes
 * per level.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { megabytes } from '../trpcClients/startRpcProcess.ts';
import type { LoadResult } from './openLoop.ts';
import type { StartUnderLoad, UnderLoad } from './petsUnderLoad.ts';
import { getOne } from './requests.ts';
import { type Generator, startGenerator } from './startGenerator.ts';

interface LevelOptions {
  /** The duration of each level. */
  readonly seconds: number;
  /** The duration of each measurement of the maximum, before and after each level. */
  readonly maximumSeconds: number;
  /** The load of each level as a share of the maximum. */
  readonly shares: readonly number[];
  /** Whether latency and goodput are checked. They are meaningful only on an otherwise idle machine. */
  readonly isTimed: boolean;
}

const shares = [0.5, 0.8, 1.2];
export const shortLevels: LevelOptions = { seconds: 10, maximumSeconds: 3, shares, isTimed: true };
export const longLevels: LevelOptions = { seconds: 300, maximumSeconds: 10, shares, isTimed: true };
/** For the test suite, where other tests run at the same time: checks only that the server rejects the excess. */
export const briefLevels: LevelOptions = { seconds: 2, maximumSeconds: 1, shares: [3], isTimed: false };

/** The goals at 120 %: the least goodput as a share of the maximum, and the p99 of rejections in milliseconds. */
const overload = { goodput: 0.9, rejectionMs: 100 };
/** The largest allowed p99 at 50 %, in milliseconds. */
const maxP99Ms = 10;

/** Enough connections to keep the server busy, and few enough that no request waits long. */
const connectionsAtMaximum = 256;
/**
 * The largest allowed growth of the memory, in megabytes, besides a tenth: V8's young generation grows to its maximum under
 * the first overload. On Node 24, with semi-spaces of 32 MB, memory grew by 54 to 104 MB and then no more, with
 * `--max-semi-space-size=8` by 32 MB.
 */
const maxGrowthMB = 120;
/**
 * The connections of the overload. Each has at most one request in flight, so there must be enough for all waiting
 * requests: 120 % of 65,000 requests/s with a response within 100 ms are 7,800. With fewer connections, requests wait
 * at the client.
 */
const connections = 8000;

interface Level extends LoadResult {
  /** The load as a share of the maximum. */
  readonly share: number;
  /** The maximum in requests/s before and after the level. If they differ much, the machine was busy. */
  readonly maximum: readonly [before: number, after: number];
  /** The goodput as a share of the mean of `maximum`. */
  readonly goodputShare: number;
  readonly cpuShare: number;
  readonly rssMB: { readonly first: number; readonly last: number; readonly highest: number };
}

/** The result that a command prints. */
export interface Measured {
  readonly measured: object;
  /** A sentence for each missed goal. */
  readonly problems: readonly string[];
}

export async function loadLevels(start: StartUnderLoad, options: LevelOptions): Promise<Measured> {
  const server = await start();
  const generators: Generator[] = [];
  try {
    const saturating = await startGenerator(server.port, connectionsAtMaximum, getOne);
    generators.push(saturating);
    const overloading = await startGenerator(server.port, connections, getOne);
    generators.push(overloading);
    return await measure(server, saturating, overloading, options);
  } finally {
    for (const generator of generators) await generator.stop();
    await server.stop();
  }
}

async function measure(
  server: UnderLoad,
  saturating: Generator,
  overloading: Generator,
  { seconds, maximumSeconds, shares: levelShares, isTimed }: LevelOptions,
): Promise<Measured> {
  const maximum = async () => (await saturating.run({ rate: undefined, seconds: maximumSeconds })).goodput;
  // Warm-up: first calls are slow.
  await maximum();
  await overloading.run({ rate: (await maximum()) / 2, seconds: maximumSeconds });

  // 1,000 requests within one millisecond.
  const burst = await overloading.run({ rate: 1_000_000, seconds: 0.001 });

  const problems: string[] = [];
  const expect = (isMet: boolean, problem: string) => {
    if (!isMet) problems.push(problem);
  };
  const levels: Level[] = [];
  expect(burst.failures === 0, `${burst.failures} requests of a single burst were lost`);
  if (isTimed) expect(burst.rejected === 0, `${burst.rejected} requests of a single burst were rejected`);
  for (const share of levelShares) {
    const before = await maximum();
    const cpuBefore = await server.cpuMs();
    const watched = watchMemory(server);
    const result = await overloading.run({ rate: share * before, seconds });
    const rssMB = await watched();
    const cpuShare = ((await server.cpuMs()) - cpuBefore) / seconds / 1000;
    const after = await maximum();
    const goodputShare = result.goodput / ((before + after) / 2);
    const level = { share, maximum: [before, after], goodputShare, cpuShare, rssMB, ...result } as const;
    levels.push(level);
    const at = `at ${share * 100} %`;
    expect(result.failures === 0, `${at} ${result.failures} requests were neither served nor rejected`);
    expect(
      rssMB.last <= rssMB.first * 1.1 + maxGrowthMB,
      `${at} memory grew from ${rssMB.first} to ${rssMB.last} MB`,
    );
    if (share > 1) expect(result.rejected > 0, `${at} no request was rejected`);
    if (!isTimed) continue;
    expect(result.unsent === 0, `${at} ${result.unsent} requests found no connection`);
    if (share < 1) {
      expect(result.rejected === 0, `${at} ${result.rejected} requests were rejected`);
    } else {
      const { p99 } = result.rejectionLatency;
      expect(p99 <= overload.rejectionMs, `${at} the p99 of rejections was ${p99} ms`);
      expect(goodputShare >= overload.goodput, `${at} goodput was ${goodputShare.toFixed(3)} of the maximum`);
    }
    if (share === 0.5) expect(result.latency.p99 <= maxP99Ms, `${at} the p99 was ${result.latency.p99} ms`);
  }
  return { measured: { seconds, connections, burst: burst.latency, levels }, problems };
}

/** Samples the memory. Returns a function that stops and returns means: single samples depend on garbage collection. */
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
