/*
 * Calls of one store, many at once, while the database is refused, frozen, slow, cut off, stopped and killed, round
 * after round. As a command: `npm run test:faults -- [rounds] [server]`, on the server that MONGODB_URI names. `server` is a program that knows the verbs `pids`, `kill-db` and `up` (`.ci/mongo`):
 * with it the server is stopped and killed too, so nobody else may use that server meanwhile.
 */
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

export interface FaultReport {
  readonly rounds: number;
  readonly acknowledged: number;
  /** Animals whose creates had an unknown outcome and that were stored. */
  readonly unheard: number;
  /** Calls that failed, by code. */
  readonly failed: Readonly<Record<string, number>>;
  /** Answers that the proxy cut. */
  readonly cuts: number;
  /** The longest that any call took, in milliseconds, of `limitMs`. */
  readonly longestMs: number;
  readonly limitMs: number;
  /** How long it took from the end of a fault to the throughput of before, in milliseconds, per kind of fault: the longest. */
  readonly recoveredMs: Readonly<Record<string, number>>;
  /** The heap in use after the second and after the last round, in bytes. */
  readonly heap: readonly [early: number, late: number];
  /** What must not be, each in a sentence. */
  readonly faults: readonly string[];
}

export interface FaultTestOptions {
  readonly rounds: number;
  /** How long a fault lasts, in milliseconds. */
  readonly faultMs: number;
  /** A program that stops and kills the server; without it only the proxy makes faults. */
  readonly server?: string | undefined;
  /** @param perSecond calls a second before the fault */
  readonly onRound?: (round: number, kind: string, perSecond: number, recoveredMs: number) => void;
}

const LIMIT_MS = 2000;
const LOOPS = 32;
const WINDOW_MS = 250;

/** What the store promises: a wait above the limit, and a recovery, are no longer than this. */
const GRACE_MS = 500;
const RECOVERY_MS = 5000;
/** Throughput that counts as that of before: the machine does other things too. */
const FULL = 0.8;
/** What it must be at least where the machine became slower meanwhile. */
const FLOOR = 0.5;

/** How much the heap may grow from the second round to the last, in bytes: the ids that were acknowledged are in it too. */
const HEAP_GROWTH = 16 * 1_048_576;

interface Trouble {
  readonly kind: string;
  readonly begin: () => unknown;
  readonly end: () => unknown;
}

export async function faultTest(options: FaultTestOptions): Promise<FaultReport> {
  const { uri, database, drop } = testDatabase();
  const proxy = await startFaultProxy(uri);
  const store = await openMongodbStore({ uri: proxy.uri, database, operationTimeoutMs: LIMIT_MS });
  const load = startLoad(store);
  const faults: string[] = [];
  const onUnhandled = (reason: unknown) => faults.push(`an unhandled rejection: ${String(reason)}`);
  process.on('unhandledRejection', onUnhandled);

  const troubles = troublesOf(proxy, options);
  const recoveredMs: Record<string, number> = {};
  let early = 0;
  for (let round = 0; round < options.rounds; round++) {
    const trouble = troubles[round % troubles.length];
    if (trouble === undefined) break;
    const full = await load.throughput(4);
    await trouble.begin();
    await delay(options.faultMs);
    await trouble.end();
    const ms = await load.untilFull(full, RECOVERY_MS);
    recoveredMs[trouble.kind] = Math.max(recoveredMs[trouble.kind] ?? 0, ms);
    if (ms > RECOVERY_MS) {
      faults.push(
        `round ${round + 1}, ${trouble.kind}: full throughput was not back after ${RECOVERY_MS} ms; the last failure: ${load.lastFailure()}`,
      );
    }
    if (round === 1) early = heapUsed();
    options.onRound?.(round + 1, trouble.kind, (full * 1000) / WINDOW_MS, ms);
  }

  await load.stop();
  const late = heapUsed();
  if (late - early > HEAP_GROWTH) faults.push(`the heap grew from ${early} to ${late} bytes`);
  if (load.longestMs() > LIMIT_MS + GRACE_MS) faults.push(`a call took ${Math.round(load.longestMs())} ms`);
  faults.push(...load.faults);
  await store.close();
  const { cuts } = proxy;
  await proxy.close();
  const stored = await storedIds(uri, database);
  const lost = load.acknowledged.filter((id) => !stored.has(id));
  if (lost.length > 0)
    faults.push(
      `${lost.length} animals were acknowledged and are not there: ${lost.slice(0, 5).join(', ')} …`,
    );
  if (new Set(load.acknowledged).size < load.acknowledged.length) faults.push('an id was given twice');
  await drop();
  process.off('unhandledRejection', onUnhandled);
  return {
    rounds: options.rounds,
    acknowledged: load.acknowledged.length,
    unheard: stored.size - load.acknowledged.length,
    failed: load.failed,
    cuts,
    longestMs: Math.round(load.longestMs()),
    limitMs: LIMIT_MS,
    recoveredMs,
    heap: [early, late],
    faults,
  };
}

function troublesOf(proxy: FaultProxy, { server }: FaultTestOptions): Trouble[] {
  const byProxy = (fault: Fault): Trouble => ({
    kind: fault.kind,
    begin: () => proxy.set(fault),
    end: () => proxy.set({ kind: 'none' }),
  });
  const troubles = [
    byProxy({ kind: 'refuse' }),
    byProxy({ kind: 'freeze' }),
    byProxy({ kind: 'delay', ms: 300 }),
    byProxy({ kind: 'cutReplies', percent: 5 }),
    byProxy({ kind: 'cutMessages', percent: 5 }),
  ];
  if (server === undefined) return troubles;
  const run = async (verb: string) => (await promisify(execFile)(server, [verb])).stdout;
  // The first is the one that clients talk to.
  const signal = async (name: 'SIGSTOP' | 'SIGCONT') => {
    const [, pid] = /=(\d+)/.exec(await run('pids')) ?? [];
    process.kill(Number(pid), name);
  };
  return [
    ...troubles,
    { kind: 'stopped', begin: () => signal('SIGSTOP'), end: () => signal('SIGCONT') },
    { kind: 'killed', begin: () => run('kill-db'), end: () => run('up') },
  ];
}

/** Calls without end, many at once, and what became of them. */
function startLoad(store: Store) {
  const acknowledged: number[] = [];
  const failed: Record<string, number> = {};
  const faults: string[] = [];
  let succeeded = 0;
  let longestMs = 0;
  let lastFailure = 'none';
  const stopped = new AbortController();
  let once = 0;

  async function callOnce(index: number): Promise<void> {
    const known = acknowledged[Math.floor(Math.random() * acknowledged.length)];
    if (index % 4 === 0 && known !== undefined) {
      if ((await store.collection(animals).get(known)) === undefined)
        faults.push(`animal ${known} was acknowledged and is not found`);
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
        failed[code] = (failed[code] ?? 0) + 1;
        lastFailure = String(error);
        if (code !== 'unavailable' && code !== 'outcome-unknown') faults.push(`a call failed with ${code}`);
        // As a client that heeds Retry-After, in small: a refusal that comes at once must not keep the machine busy.
        await delay(10);
      }
      longestMs = Math.max(longestMs, performance.now() - start);
    }
  }
  const loops = Promise.all(Array.from({ length: LOOPS }, loop));

  /** Calls that succeeded in one window. */
  async function window(): Promise<number> {
    const before = succeeded;
    await delay(WINDOW_MS);
    return succeeded - before;
  }

  return {
    acknowledged,
    failed,
    faults,
    longestMs: () => longestMs,
    lastFailure: () => lastFailure,
    /** The median of some windows. */
    async throughput(windows: number): Promise<number> {
      const counts: number[] = [];
      while (counts.length < windows) counts.push(await window());
      return counts.toSorted((one, other) => one - other)[windows >> 1] ?? 0;
    },
    /**
     * How long it takes to the start of a window with that many. Where there is none in time, the machine may have become
     * slower: then what it reaches afterwards counts in its place, but not less than half.
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
  const [rounds = '50', server] = process.argv.slice(2);
  const report = await faultTest({
    rounds: Number(rounds),
    faultMs: 5000,
    server,
    onRound: (round, kind, perSecond, ms) =>
      process.stderr.write(`round ${round}: ${kind}, ${perSecond} calls/s, back after ${ms} ms\n`),
  });
  const { faults, heap, ...rest } = report;
  const [early, late] = heap.map((bytes) => `${(bytes / 1_048_576).toFixed(1)} MB`);
  process.stdout.write(`${JSON.stringify(rest, undefined, 2)}\n`);
  process.stdout.write(
    `heap ${early} after round 2, ${late} after the last\n${faults.length} faults\n${faults.join('\n')}`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}
