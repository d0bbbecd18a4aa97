/*
 * Injects faults into the state of a service under load. As a command, `npm run outages:idempotency -w trpc-gateway-shared`,
 * it runs 1,000 rounds, or `ROUNDS`: a third of them on a folder (by strace), on MongoDB (`MONGODB_URI`) and on Redis (through a
 * proxy). These must hold:
 *
 * - no order with an idempotency key runs twice, and an acknowledged order has run
 * - once the fault is over, the client of every order gets 201, unless the order has run
 * - no client waits longer than `callTimeoutMs` and 2 s, and calls without a key are served
 * - the process serves from the first round to the last
 */
import { countArgument } from '@petstore/testing/countArgument';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mongodbUri, startFaultProxy, testDatabase } from '@petstore/testing/mongodb';
import { hasRedis, startRedis } from '@petstore/testing/redis';
import { listening, type RunningService, startService } from '@petstore/testing/serviceProcess';
import type { TestState } from '../openTestState.ts';
import { databaseFaults, folderFaults, isInjected, redisFaults, type StateFault } from './faults.ts';

interface FaultRounds {
  rounds: number;
  /** In how many of them a call failed, or strace injected the fault. */
  noticed: number;
}

export interface FaultReport {
  /** By the name of the fault. */
  readonly rounds: Readonly<Record<string, FaultRounds>>;
  readonly orders: number;
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Orders that ran, and whose response could not be stored: their repeats are answered with 409. */
  readonly ranWithoutResponse: number;
  readonly slowestMs: number;
  /** Violations of the rules, one sentence each. */
  readonly violations: readonly string[];
}

const file = fileURLToPath(new URL('faultyService.ts', import.meta.url));
/** `callTimeoutMs` of the service, and 2 s. */
const longestMs = 2000 + 2000;
const ordersPerRound = 8;
/** How long after a fault its orders may take, in milliseconds. The lease of a call is 12 s. */
const settleMs = 30_000;

/** Starts the service of the test on a state. */
export const startFaulty = (state: TestState): Promise<RunningService> =>
  listening(
    startService(process.execPath, [file], { env: { ...process.env, STATE: JSON.stringify(state) } }),
  );

/** Runs rounds on a state in a folder. */
export async function faultsOfFolder(rounds: number): Promise<FaultReport> {
  const folder = await mkdtemp(join(tmpdir(), 'state-faults-'));
  const service = await startFaulty({ folder: join(folder, 'state') });
  try {
    const output = join(folder, 'strace');
    const faults = folderFaults(service.child.pid ?? 0, output).map(({ name, begin }) => ({
      name,
      async begin() {
        await rm(output, { force: true });
        return begin();
      },
    }));
    return await faultTest(service, faults, rounds, () => isInjected(output));
  } finally {
    service.child.kill('SIGKILL');
    await service.exited;
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs rounds on a state in MongoDB. */
export async function faultsOfDatabase(rounds: number): Promise<FaultReport> {
  const { database, drop, uri } = testDatabase();
  const proxy = await startFaultProxy(uri);
  const service = await startFaulty({ uri: proxy.uri, database });
  try {
    return await faultTest(service, databaseFaults(proxy), rounds);
  } finally {
    service.child.kill('SIGKILL');
    await service.exited;
    await proxy.close();
    await drop();
  }
}

/** Runs rounds on a state in Redis. */
export async function faultsOfRedis(rounds: number): Promise<FaultReport> {
  const server = await startRedis();
  const proxy = await startFaultProxy(server.url);
  const service = await startFaulty({ redis: proxy.uri });
  try {
    return await faultTest(service, [...redisFaults(server), ...databaseFaults(proxy)], rounds);
  } finally {
    service.child.kill('SIGKILL');
    await service.exited;
    await proxy.close();
    await server.remove();
  }
}

async function faultTest(
  service: RunningService,
  faults: readonly StateFault[],
  rounds: number,
  isHit: () => Promise<boolean> = async () => false,
): Promise<FaultReport> {
  const violations: string[] = [];
  const statuses: Record<number, number> = {};
  const report: Record<string, FaultRounds> = {};
  const acknowledged = new Set<string>();
  const interrupted: string[] = [];
  let slowestMs = 0;
  let isNoticed = false;

  async function send(text: string): Promise<{ status: number; isFinal: boolean }> {
    const startedAt = performance.now();
    const { headers, status, ...response } = await fetch(`${service.origin}/v1/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': text },
      body: JSON.stringify({ text }),
    }).then(async (received) => ({
      status: received.status,
      headers: received.headers,
      body: await received.text(),
    }));
    const ms = performance.now() - startedAt;
    slowestMs = Math.max(slowestMs, ms);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status !== 201) isNoticed = true;
    if (ms > longestMs) violations.push(`${text} was answered with ${status} after ${Math.round(ms)} ms.`);
    if (status === 201) acknowledged.add(text);
    else if (status === 409 && !headers.has('retry-after')) interrupted.push(text);
    else if (status !== 503 && status !== 504 && status !== 409)
      violations.push(`${text} was answered with ${status}: ${response.body}`);
    return { status, isFinal: acknowledged.has(text) || interrupted.at(-1) === text };
  }

  /** Repeats an order until its outcome is known. */
  async function settle(text: string): Promise<void> {
    const until = Date.now() + settleMs;
    let { isFinal, status } = { isFinal: false, status: 0 };
    while (!isFinal && Date.now() < until) {
      await sleep(100);
      ({ isFinal, status } = await send(text));
    }
    if (!isFinal)
      violations.push(`${text} is still answered with ${status}, ${settleMs} ms after the fault.`);
  }

  async function runRound(round: number): Promise<void> {
    const fault = faults[round % faults.length] as StateFault;
    const orders = Array.from({ length: ordersPerRound }, (_, at) => `order-${round}-${at}`);
    isNoticed = false;
    const [end] = await Promise.all([
      fault.begin(),
      // A folder's fault begins when strace is attached, which takes longer than these calls: they are sent below too.
      ...orders.slice(0, ordersPerRound / 2).map(send),
    ]);
    const others = orders.slice(ordersPerRound / 2).map(send);
    const { status } = await fetch(`${service.origin}/trpc/runs`);
    if (status !== 200) violations.push(`A call without a key was answered with ${status}.`);
    await Promise.all(others);
    await end();
    isNoticed ||= await isHit();
    await Promise.all(orders.map(settle));
    const each = (report[fault.name] ??= { rounds: 0, noticed: 0 });
    each.rounds += 1;
    if (isNoticed) each.noticed += 1;
  }

  async function runsOfOrders(): Promise<ReadonlyMap<string, number>> {
    const response = await fetch(`${service.origin}/trpc/runs`);
    const { result } = (await response.json()) as {
      result: { data: readonly (readonly [string, number])[] };
    };
    return new Map(result.data);
  }

  try {
    for (let round = 0; round < rounds; round += 1) {
      await runRound(round);
    }
    const runs = await runsOfOrders();
    for (const [text, count] of runs) if (count > 1) violations.push(`${text} ran ${count} times.`);
    for (const text of acknowledged)
      if (!runs.has(text)) violations.push(`${text} was acknowledged, and did not run.`);
    for (const text of interrupted)
      if (!runs.has(text)) violations.push(`${text} is blocked, and did not run.`);
  } catch (error) {
    const { exitCode, signalCode } = service.child;
    violations.push(`The process has ended (${signalCode ?? exitCode}): ${String(error)}`);
  }
  return {
    rounds: report,
    orders: rounds * ordersPerRound,
    statuses,
    ranWithoutResponse: new Set(interrupted).size,
    slowestMs: Math.round(slowestMs),
    violations,
  };
}

/** How many services run rounds at the same time on each kind of state: they wait most of the time. */
const services = 4;

async function inParallel(
  runRounds: (rounds: number) => Promise<FaultReport>,
  rounds: number,
): Promise<FaultReport> {
  const reports = await Promise.all(
    Array.from({ length: services }, (_, at) => runRounds(Math.floor((rounds + at) / services))),
  );
  const total = { rounds: {} as Record<string, FaultRounds>, statuses: {} as Record<number, number> };
  for (const report of reports) {
    for (const [name, { noticed, rounds: count }] of Object.entries(report.rounds)) {
      const sum = (total.rounds[name] ??= { rounds: 0, noticed: 0 });
      sum.rounds += count;
      sum.noticed += noticed;
    }
    for (const [status, count] of Object.entries(report.statuses)) {
      total.statuses[Number(status)] = (total.statuses[Number(status)] ?? 0) + count;
    }
  }
  const sum = (of: (report: FaultReport) => number) => reports.reduce((all, each) => all + of(each), 0);
  return {
    ...total,
    orders: sum(({ orders }) => orders),
    ranWithoutResponse: sum(({ ranWithoutResponse }) => ranWithoutResponse),
    slowestMs: Math.max(...reports.map(({ slowestMs }) => slowestMs)),
    violations: reports.flatMap(({ violations }) => violations),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rounds = countArgument('ROUNDS', process.env['ROUNDS'], 1000);
  const share = Math.ceil(rounds / 3);
  const [folder, mongodb, redis] = await Promise.all([
    inParallel(faultsOfFolder, share),
    mongodbUri === undefined ? undefined : inParallel(faultsOfDatabase, share),
    hasRedis ? inParallel(faultsOfRedis, share) : undefined,
  ]);
  process.stdout.write(`${JSON.stringify({ folder, mongodb, redis }, null, 2)}\n`);
  if (mongodb === undefined) process.stderr.write('SKIPPED: MongoDB needs MONGODB_URI.\n');
  if (redis === undefined) process.stderr.write('SKIPPED: Redis needs `.ci/redis install`.\n');
  const violations = [folder, mongodb, redis].flatMap((report) => report?.violations ?? []);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
