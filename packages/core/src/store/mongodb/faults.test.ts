import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Fault, mongodbUri, startFaultProxy, testDatabase } from '@petstore/testing/mongodb';
import { type Long, MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { Store } from '../store.ts';
import { StoreError } from '../storeError.ts';
import { openMongodbStore } from './index.ts';
import { animals } from '../../procedures/animals.ts';
import { collections } from '../../collections.ts';

// `npm run test:databasefaults -w @petstore/server` kills the database too.

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

/** Duration of a fault, in milliseconds. */
const FAULT_MS = 1000;
/** The faults, one per round. */
const faults: readonly Fault[] = [
  { kind: 'reject' },
  { kind: 'freeze' },
  { kind: 'delay', ms: 300 },
  { kind: 'cutResponses', percent: 5 },
  { kind: 'cutMessages', percent: 5 },
];

/** Calls a store concurrently while each fault begins and ends. */
async function faultRounds() {
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

  let early = 0;
  for (const [round, fault] of faults.entries()) {
    const full = await load.throughput(4);
    proxy.set(fault);
    await delay(FAULT_MS);
    proxy.set({ kind: 'none' });
    const ms = await load.untilFull(full, RECOVERY_MS);
    if (ms > RECOVERY_MS) {
      violations.push(
        `round ${round + 1}, ${fault.kind}: full throughput was not back after ${RECOVERY_MS} ms; the last failure: ${load.lastFailure()}`,
      );
    }
    if (round === 1) early = heapUsed();
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
  return { acknowledged: load.acknowledged.length, failures: load.failures, cuts, violations };
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

describe.skipIf(mongodbUri === undefined)('a store under load', () => {
  test('connection faults lose no acknowledged animal, exceed no timeout and need no restart', async () => {
    const { violations, acknowledged, cuts, failures } = await faultRounds();
    expect(violations).toEqual([]);
    expect(acknowledged).toBeGreaterThan(100);
    expect(cuts).toBeGreaterThan(0);
    expect(Object.keys(failures).toSorted()).toEqual(['outcome-unknown', 'unavailable']);
  });
});
