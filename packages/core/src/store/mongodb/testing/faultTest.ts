/*
 * Calls a store concurrently while connections are rejected, frozen, delayed and cut, and while the server is stopped and
 * killed, for a number of rounds. Run it with `npm run test:faults -w @petstore/core -- [rounds] [server]` on the server of
 * MONGODB_URI.
 * `server` is a program with the verbs `pids`, `kill-db` and `up` (`.ci/mongo`). With it the server is stopped and killed
 * too, so nothing else may use that server during the test.
 */
import { countArgument } from '@petstore/testing/countArgument';
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Fault, type FaultProxy, startFaultProxy, testDatabase } from '@petstore/testing/mongodb';
import { type Long, MongoClient } from 'mongodb';
import type { Store } from '../../store.ts';
import { StoreError } from '../../storeError.ts';
import { openMongodbStore } from '../index.ts';
import { animals } from '../../../procedures/animals.ts';
import { collections } from '../../../collections.ts';

export interface FaultReport {
  readonly rounds: number;
  readonly acknowledged: number;
  /** Number of animals that were stored although their creates failed with an unknown outcome. */
  readonly unacknowledged: number;
  /** Number of failed calls by code. */
  readonly failures: Readonly<Record<string, number>>;
  /** Number of responses that the proxy cut. */
  readonly cuts: number;
  /** Duration of the longest call, in milliseconds. Its timeout was `limitMs`. */
  readonly longestMs: number;
  readonly limitMs: number;
  /** Longest time from the end of a fault until the previous throughput was reached, in milliseconds, by kind of fault. */
  readonly recoveredMs: Readonly<Record<string, number>>;
  /** Used heap after the second and after the last round, in bytes. */
  readonly heap: readonly [early: number, late: number];
  /** Violations, each as a sentence. */
  readonly violations: readonly string[];
}

export interface FaultTestOptions {
  readonly rounds: number;
  /** Duration of a fault, in milliseconds. */
  readonly faultMs: number;
  /** Program that stops and kills the server. Default: only the proxy injects faults. */
  readonly server?: string | undefined;
  /** @param perSecond calls per second before the fault */
  readonly onRound?: (round: number, kind: string, perSecond: number, recoveredMs: number) => void;
}

const LIMIT_MS = 2000;
const LOOPS = 32;
const WINDOW_MS = 250;

/** Maximum excess of a call over its timeout, and maximum time of a recovery, in milliseconds. */
const GRACE_MS = 500;
const RECOVERY_MS = 5000;
/** Part of the previous throughput that counts as recovered, because other processes share the machine. */
const FULL = 0.8;
/** Minimum part of the previous throughput if the machine became slower. */
const FLOOR = 0.5;

/** Maximum growth of the heap from the second round to the last, in bytes. It includes the acknowledged ids. */
const HEAP_GROWTH = 16 * 1_048_576;

interface InjectedFault {
  readonly kind: string;
  readonly begin: () => unknown;
  readonly end: () => unknown;
}

/** Runs the rounds. */
export async function faultTest(options: FaultTestOptions): Promise<FaultReport> {
  const { uri, database, drop } = testDatabase();
  const proxy = await startFaultProxy(uri);
  const store = await openMongodbStore({
    uri: proxy.uri,
    database,
    operationTimeoutMs: LIMIT_MS,
    collections,
  });
  const load = startLoad(store);
  const violations: string[] = [];
  const onUnhandled = (reason: unknown) => violations.push(`an unhandled rejection: ${String(reason)}`);
  process.on('unhandledRejection', onUnhandled);

  const injectedFaults = faultKinds(proxy, options);
  const recoveredMs: Record<string, number> = {};
  let early = 0;
  for (let round = 0; round < options.rounds; round++) {
    const fault = injectedFaults[round % injectedFaults.length];
    if (fault === undefined) break;
    const full = await load.throughput(4);
    await fault.begin();
    await delay(options.faultMs);
    await fault.end();
    const ms = await load.untilFull(full, RECOVERY_MS);
    recoveredMs[fault.kind] = Math.max(recoveredMs[fault.kind] ?? 0, ms);
    if (ms > RECOVERY_MS) {
      violations.push(
        `round ${round + 1}, ${fault.kind}: full throughput was not back after ${RECOVERY_MS} ms; the last failure: ${load.lastFailure()}`,
      );
    }
    if (round === 1) early = heapUsed();
    options.onRound?.(round + 1, fault.kind, (full * 1000) / WINDOW_MS, ms);
  }

  await load.stop();
  const late = heapUsed();
  if (late - early > HEAP_GROWTH) violations.push(`the heap grew from ${early} to ${late} bytes`);
  if (load.longestMs() > LIMIT_MS + GRACE_MS)
    violations.push(`a call took ${Math.round(load.longestMs())} ms`);
  violations.push(...load.violations);
  await store.close();
  const { cuts } = proxy;
  await proxy.close();
  const stored = await storedIds(uri, database);
  const lost = load.acknowledged.filter((id) => !stored.has(id));
  if (lost.length > 0)
    violations.push(
      `${lost.length} animals were acknowledged and are not there: ${lost.slice(0, 5).join(', ')} …`,
    );
  if (new Set(load.acknowledged).size < load.acknowledged.length) violations.push('an id was given twice');
  await drop();
  process.off('unhandledRejection', onUnhandled);
  return {
    rounds: options.rounds,
    acknowledged: load.acknowledged.length,
    unacknowledged: stored.size - load.acknowledged.length,
    failures: load.failures,
    cuts,
    longestMs: Math.round(load.longestMs()),
    limitMs: LIMIT_MS,
    recoveredMs,
    heap: [early, late],
    violations,
  };
}

function faultKinds(proxy: FaultProxy, { server }: FaultTestOptions): InjectedFault[] {
  const byProxy = (fault: Fault): InjectedFault => ({
    kind: fault.kind,
    begin: () => proxy.set(fault),
    end: () => proxy.set({ kind: 'none' }),
  });
  const proxyFaults = [
    byProxy({ kind: 'reject' }),
    byProxy({ kind: 'freeze' }),
    byProxy({ kind: 'delay', ms: 300 }),
    byProxy({ kind: 'cutResponses', percent: 5 }),
    byProxy({ kind: 'cutMessages', percent: 5 }),
  ];
  if (server === undefined) return proxyFaults;
  const run = async (verb: string) => (await promisify(execFile)(server, [verb])).stdout;
  // The first one serves the clients.
  const signal = async (name: 'SIGSTOP' | 'SIGCONT') => {
    const [, pid] = /=(\d+)/.exec(await run('pids')) ?? [];
    process.kill(Number(pid), name);
  };
  return [
    ...proxyFaults,
    { kind: 'stopped', begin: () => signal('SIGSTOP'), end: () => signal('SIGCONT') },
    { kind: 'killed', begin: () => run('kill-db'), end: () => run('up') },
  ];
}

/** Starts endless concurrent calls and counts their outcomes. */
function startLoad(store: Store) {
  const acknowledged: number[] = [];
  const failures: Record<string, number> = {};
  const violations: string[] = [];
  let succeeded = 0;
  let longestMs = 0;
  let lastFailure = 'none';
  const stopped = new AbortController();
  let once = 0;

  async function callOnce(index: number): Promise<void> {
    const known = acknowledged[Math.floor(Math.random() * acknowledged.length)];
    if (index % 4 === 0 && known !== undefined) {
      if ((await store.collection(animals).get(known)) === undefined)
        violations.push(`animal ${known} was acknowledged and is not found`);
    } else if (index % 4 === 1) {
      await store.collection(animals).list({ limit: 20, cursor: known });
    } else if (index % 4 === 2) {
      acknowledged.push((await store.collection(animals).create({ name: 'Rex', categoryId: index })).id);
    } else {
      const reservation = { caller: 'caller', key: `key ${once++}`, fingerprint: 'f' };
      const { record } = await store
        .collection(animals)
        .createOnce({ name: 'Rex', categoryId: index }, reservation);
      acknowledged.push(record.id);
    }
  }

  async function loop(): Promise<void> {
    for (let index = 0; !stopped.signal.aborted; index++) {
      const start = performance.now();
      try {
        await callOnce(index);
        succeeded++;
      } catch (error) {
        const code = error instanceof StoreError ? error.code : String(error);
        failures[code] = (failures[code] ?? 0) + 1;
        lastFailure = String(error);
        if (code !== 'unavailable' && code !== 'outcome-unknown')
          violations.push(`a call failed with ${code}`);
        // As a client that respects Retry-After, but shorter: immediate rejections must not keep the machine busy.
        await delay(10);
      }
      longestMs = Math.max(longestMs, performance.now() - start);
    }
  }
  const loops = Promise.all(Array.from({ length: LOOPS }, loop));

  /** Returns the number of successful calls in one window. */
  async function window(): Promise<number> {
    const before = succeeded;
    await delay(WINDOW_MS);
    return succeeded - before;
  }

  return {
    acknowledged,
    failures,
    violations,
    longestMs: () => longestMs,
    lastFailure: () => lastFailure,
    /** Returns the median of several windows. */
    async throughput(windows: number): Promise<number> {
      const counts: number[] = [];
      while (counts.length < windows) counts.push(await window());
      return counts.toSorted((one, other) => one - other)[windows >> 1] ?? 0;
    },
    /**
     * Returns the time until the first window with that throughput. If there is none in time, the machine may have become
     * slower: then the throughput that it reaches afterwards is required instead, but at least half.
     */
    async untilFull(before: number, atMostMs: number): Promise<number> {
      const counts: number[] = [];
      while (counts.length * WINDOW_MS < atMostMs) {
        const count = await window();
        if (count >= before * FULL) return counts.length * WINDOW_MS;
        counts.push(count);
      }
      const after = await this.throughput(8);
      const index = counts.findIndex((count) => count >= after * FULL);
      return index < 0 || after < before * FLOOR ? Infinity : index * WINDOW_MS;
    },
    async stop() {
      stopped.abort();
      await loops;
    },
  };
}

async function storedIds(uri: string, database: string): Promise<Set<number>> {
  const client = new MongoClient(uri);
  const rows = client.db(database).collection<{ _id: Long | number }>('animals');
  const ids = new Set<number>();
  for await (const { _id: id } of rows.find({}, { projection: { _id: 1 }, batchSize: 10_000 })) {
    ids.add(Number(id));
  }
  await client.close();
  return ids;
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

if (process.argv[1] === import.meta.filename) {
  const [rounds, server] = process.argv.slice(2);
  const report = await faultTest({
    rounds: countArgument('rounds', rounds, 50),
    faultMs: 5000,
    server,
    onRound: (round, kind, perSecond, ms) =>
      process.stderr.write(`round ${round}: ${kind}, ${perSecond} calls/s, back after ${ms} ms\n`),
  });
  const { violations, heap, ...rest } = report;
  const [early, late] = heap.map((bytes) => `${(bytes / 1_048_576).toFixed(1)} MB`);
  process.stdout.write(`${JSON.stringify(rest, undefined, 2)}\n`);
  process.stdout.write(
    `heap ${early} after round 2, ${late} after the last\n${violations.length} faults\n${violations.join('\n')}`,
  );
  process.exitCode = violations.length === 0 ? 0 : 1;
}
