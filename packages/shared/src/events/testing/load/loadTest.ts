/*
 * Publishes events to subscribers in several processes that share a folder log, and checks that each subscriber receives each event
 * once and in order. As a command, `npm run load:events -w trpc-gateway-shared -- --seconds 1800`, it prints how long events take
 * from `append` to the subscriber, and what the workers use. `--rate`, `--subscribers`, `--channels`, `--workers`, `--size`,
 * `--seconds` and `--idleSeconds` change the load.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { countArgument } from '@petstore/testing/countArgument';
import type { LoadProcessOptions, LoadRequest, LoadResult, Measurement } from './loadProcess.ts';

export const loadDefaults = {
  /** Processes, each of which publishes and has subscribers. */
  workers: 4,
  /** Subscribers of all workers. They subscribe to the channels in turn. */
  subscribers: 200,
  channels: 50,
  /** Events that all workers publish, per second. */
  rate: 5000,
  /** Characters of an event. */
  size: 100,
  /** How long events are published. */
  seconds: 60,
  /** How long the subscribers wait before that. */
  idleSeconds: 10,
};

type LoadOptions = typeof loadDefaults;

/** What all workers have done in some time. */
export interface LoadSample {
  /** Percentiles of the time from `append` to the subscriber, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly maxMs: number;
  readonly delivered: number;
  readonly cpuMs: number;
  readonly wakeups: number;
  /** Of the largest worker. */
  readonly rssMb: number;
}

export interface LoadReport {
  /** What the workers did after the first sample, in which they warm up. */
  readonly total: LoadSample;
  readonly published: number;
  readonly delivered: number;
  readonly rejected: number;
  readonly violations: readonly string[];
}

const program = fileURLToPath(new URL('loadProcess.ts', import.meta.url));

/** @param onSample called after the time without events, and then about 20 times: the first of them warms up */
export async function loadTest(
  options: LoadOptions,
  onSample: (what: string, sample: LoadSample) => void = () => {},
): Promise<LoadReport> {
  const folder = await mkdtemp(join(tmpdir(), 'event-load-'));
  const workers = Array.from({ length: options.workers }, (_, index) => start(folder, options, index));
  try {
    await Promise.all(workers.map((each) => once(each, 'message')));
    const measure = async (seconds: number, what: string): Promise<Measurement[]> => {
      await askAll(workers, { type: 'measure' });
      await sleep(seconds * 1000);
      const measured = (await askAll(workers, { type: 'measure' })) as Measurement[];
      onSample(what, sampleOf(measured));
      return measured;
    };
    await measure(options.idleSeconds, 'idle');
    await askAll(workers, { type: 'publish' });
    const step = Math.ceil(options.seconds / 20);
    await measure(step, 'warm');
    const measurements: Measurement[] = [];
    for (let at = step; at <= options.seconds; at += step)
      measurements.push(...(await measure(step, `${at} s`)));
    const counts = (await askAll(workers, { type: 'pause' })) as number[][];
    const published = Array.from({ length: options.channels }, (_, channel) =>
      sum(counts, (each) => each[channel] ?? 0),
    );
    const results = (await askAll(workers, { type: 'end', published })) as LoadResult[];
    return {
      total: sampleOf(measurements),
      published: sum(published, (each) => each),
      delivered: sum(results, ({ delivered }) => delivered),
      rejected: sum(results, ({ rejected }) => rejected),
      violations: results.flatMap(({ violations }) => violations),
    };
  } finally {
    for (const each of workers) each.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
}

function start(path: string, options: LoadOptions, index: number): ChildProcess {
  const { channels, rate, size, subscribers, workers } = options;
  const subscribed = Array.from({ length: subscribers }, (_, at) => at % channels);
  const worker: LoadProcessOptions = {
    path,
    name: `worker${index}`,
    channels,
    subscribed: subscribed.filter((_, at) => at % workers === index),
    rate: rate / workers,
    size,
  };
  return fork(program, [JSON.stringify(worker)], { execArgv: ['--conditions=trpc-gateway-source'] });
}

/** Sends a request to all workers, and returns their replies. */
const askAll = (workers: readonly ChildProcess[], request: LoadRequest): Promise<unknown[]> =>
  Promise.all(
    workers.map(async (each) => {
      each.send(request);
      const [message] = await once(each, 'message');
      return message as unknown;
    }),
  );

function sampleOf(measurements: readonly Measurement[]): LoadSample {
  const counts = (measurements[0]?.latencies ?? []).map((_, bucket) =>
    sum(measurements, ({ latencies }) => latencies[bucket] ?? 0),
  );
  const delivered = sum(counts, (count) => count);
  const percentile = (part: number): number => {
    let left = part * delivered;
    return (counts.findIndex((count) => (left -= count) <= 0) + 1) / 10;
  };
  return {
    p50: percentile(0.5),
    p99: percentile(0.99),
    maxMs: Math.max(...measurements.map(({ maxMs }) => maxMs)),
    delivered,
    cpuMs: sum(measurements, ({ cpuMs }) => cpuMs),
    wakeups: sum(measurements, ({ wakeups }) => wakeups),
    rssMb: Math.max(...measurements.map(({ rssMb }) => rssMb)),
  };
}

const sum = <T>(values: readonly T[], valueOf: (value: T) => number): number =>
  values.reduce((total, value) => total + valueOf(value), 0);

function print(what: string, sample: LoadSample): void {
  const { cpuMs, delivered, maxMs, p50, p99, rssMb, wakeups } = sample;
  const figures = [p50.toFixed(1), p99.toFixed(1), maxMs.toFixed(1), delivered, cpuMs, wakeups, rssMb];
  const columns = figures.map((each) =>
    String(typeof each === 'number' ? Math.round(each) : each).padStart(9),
  );
  process.stdout.write(`${what.padEnd(7)}${columns.join('')}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = Object.keys(loadDefaults) as (keyof LoadOptions)[]; // It has no other keys.
  const { values } = parseArgs({
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
  });
  const options = Object.fromEntries(
    names.map((name) => [name, countArgument(`--${name}`, values[name], loadDefaults[name])]),
  ) as LoadOptions; // It has all keys.
  process.stdout.write('          p50 ms   p99 ms   max ms  deliver.   CPU ms  wakeups   RSS MB\n');
  const { delivered, published, rejected, total, violations } = await loadTest(options, print);
  print('total', total);
  process.stdout.write(
    `${published} events were published, ${rejected} rejected, and ${delivered} delivered.\n`,
  );
  for (const each of violations) process.stderr.write(`${each}\n`);
  if (violations.length > 0) process.exitCode = 1;
}
