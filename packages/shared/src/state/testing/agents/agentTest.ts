/*
 * Agents place orders with a tool of a service that is killed, whose replies are lost and whose state fails, and repeat
 * each call with its key in any of its four places, its arguments in any order and in any revision of MCP. As a command, `npm run outages:idempotency:mcp -w trpc-gateway-shared`,
 * it runs 1,000 rounds, or `ROUNDS`, half of them on MongoDB if there is `MONGODB_URI`. These must hold:
 *
 * - each order ran once, also if its agent was told to look for its effect and then repeated it with a new key
 * - each result of an order is that of its one run, and says so if it is replayed
 * - no key is blocked without having run, unless a call with it was cut by a kill: then its agent is told to look
 * - the agent of each order learns its outcome within a minute after the last fault
 */
import { countArgument } from '@petstore/testing/countArgument';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mongodbUri, startFaultProxy, testDatabase } from '@petstore/testing/mongodb';
import { databaseFaults, folderFaults, type StateFault } from '../faults/faults.ts';
import type { TestState } from '../openTestState.ts';
import { anyPlace, type Attempt, findOrder, type Loss, mayBeCut, newKey, order } from './agent.ts';

export interface AgentReport {
  /** Number of rounds by fault. */
  readonly rounds: Readonly<Record<string, number>>;
  readonly orders: number;
  /** Number of calls of `order` by the place of the key. */
  readonly calls: Readonly<Record<string, number>>;
  /** Number of calls without a reply. */
  readonly lost: number;
  /** Number of results that were replayed. */
  readonly replayed: number;
  /** Number of calls that were rejected, by status. */
  readonly rejected: Readonly<Record<string, number>>;
  /** Number of orders whose agent was told to look: it found the order, or found none and repeated it with a new key. */
  readonly looked: { readonly found: number; readonly repeated: number };
  /** Violations of the rules, one sentence each. */
  readonly violations: readonly string[];
}

/** An order of an agent, until it knows the outcome. */
interface Task {
  readonly text: string;
  key: string;
  /** The calls with the key. */
  attempts: Attempt[];
  /** The run of the first result. */
  run: string | undefined;
}

const file = fileURLToPath(new URL('toolService.ts', import.meta.url));
const ordersPerRound = 8;
/** How long an agent may take after the last fault, in milliseconds. The lease of a call that is cut is 12 s. */
const longestMs = 60_000;
/** How long a round waits for its agents, in milliseconds: those that are told to wait go on beside the next rounds. */
const roundMs = 500;

const random = (below: number) => Math.floor(Math.random() * below);
const count = (counts: Record<string, number>, name: string, by = 1) => {
  counts[name] = (counts[name] ?? 0) + by;
};

/** Runs rounds on a state in a folder. */
export async function agentsOnFolder(rounds: number): Promise<AgentReport> {
  const folder = await mkdtemp(join(tmpdir(), 'agents-'));
  const faults = (pid: number) => folderFaults(pid, join(folder, 'strace'));
  try {
    return await agentTest({ folder, state: { folder: join(folder, 'state') }, faults, rounds });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs rounds on a state in MongoDB. */
export async function agentsOnDatabase(rounds: number): Promise<AgentReport> {
  const folder = await mkdtemp(join(tmpdir(), 'agents-'));
  const { database, drop, uri } = testDatabase();
  const proxy = await startFaultProxy(uri);
  const faults = () => databaseFaults(proxy);
  try {
    return await agentTest({ folder, state: { uri: proxy.uri, database }, faults, rounds });
  } finally {
    await proxy.close();
    await drop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface AgentTestOptions {
  /** The folder of the orders that have run. */
  readonly folder: string;
  readonly state: TestState;
  /** Returns the faults of the state. @param pid the process of the service */
  readonly faults: (pid: number) => readonly StateFault[];
  readonly rounds: number;
}

/** What rounds and agents share. */
interface Run {
  readonly services: ReturnType<typeof serviceProcesses>;
  readonly report: ReturnType<typeof emptyReport>;
  losesReplies: boolean;
  faultEndedAt: number;
}

const emptyReport = (orders: number) => ({
  rounds: {} as Record<string, number>,
  orders,
  calls: {} as Record<string, number>,
  lost: 0,
  replayed: 0,
  rejected: {} as Record<string, number>,
  looked: { found: 0, repeated: 0 },
  violations: [] as string[],
});

async function agentTest({ folder, state, faults, rounds }: AgentTestOptions): Promise<AgentReport> {
  const report = emptyReport(rounds * ordersPerRound);
  const { violations } = report;
  const env = { STATE: JSON.stringify(state), FOLDER: folder };
  const services = serviceProcesses(env, (end) => violations.push(`The service has ended (${end}).`));
  const run: Run = { services, report, losesReplies: false, faultEndedAt: Date.now() };
  const ownFaults = faultsOfCalls(run);
  const tasks: Task[] = [];
  const settling: Promise<void>[] = [];

  async function runRound(round: number): Promise<void> {
    const ofState = faults(await services.pid());
    const faultsOfRound = [...ownFaults, ofState[random(ofState.length)]];
    const fault = faultsOfRound[round % faultsOfRound.length] as StateFault;
    count(report.rounds, fault.name);
    const orders = Array.from({ length: ordersPerRound }, (_, at) => newTask(`order-${round}-${at}`));
    tasks.push(...orders);
    const half = ordersPerRound / 2;
    const [end] = await Promise.all([
      fault.begin(),
      ...orders.slice(0, half).map((task) => attempt(task, run)),
    ]);
    await Promise.all(orders.slice(half).map((task) => attempt(task, run)));
    await end();
    run.faultEndedAt = Date.now();
    const settled = Promise.all(orders.map((task) => settle(task, run)));
    settling.push(settled.then(() => {}));
    await Promise.race([settled, sleep(roundMs)]);
  }

  try {
    for (let round = 0; round < rounds; round += 1) await runRound(round);
    await Promise.all(settling);
    const effects = await readFile(join(folder, 'effects'), 'utf8');
    const runs = Map.groupBy(effects.trimEnd().split('\n'), (line) => line.slice(0, line.indexOf(' ')));
    for (const { run: known, text } of tasks) {
      const ran = runs.get(text) ?? [];
      if (ran.length !== 1) violations.push(`${text} ran ${ran.length} times.`);
      if (known !== undefined && ran[0] !== `${text} ${known}`)
        violations.push(`${text} was answered with run ${known}, and ran as ${ran[0]}.`);
    }
  } finally {
    await services.end();
  }
  return report;
}

/** Returns the faults that are not of the state. */
const faultsOfCalls = (run: Run): readonly StateFault[] => [
  {
    name: 'killed process',
    async begin() {
      await sleep(random(8));
      await run.services.kill();
      return async () => {};
    },
  },
  {
    name: 'lost replies',
    async begin() {
      run.losesReplies = true;
      return async () => {
        run.losesReplies = false;
      };
    },
  },
];

const newTask = (text: string): Task => ({ text, key: newKey(), attempts: [], run: undefined });

/** Calls the tool once. @returns whether the agent knows the outcome */
async function attempt(task: Task, run: Run): Promise<boolean> {
  const { report, losesReplies, services } = run;
  const { key, text } = task;
  const place = anyPlace();
  count(report.calls, place);
  const loss: Loss | undefined = losesReplies ? (['reply', 'connection'] as const)[random(2)] : undefined;
  const origin = await services.origin();
  const kills = services.kills();
  const outcome = await order(origin, text, { key, place, loss });
  task.attempts.push({ kills, outcome });
  switch (outcome.kind) {
    case 'placed':
      return learn(task, outcome, report);
    case 'interrupted':
      return look(task, run);
    case 'rejected':
      count(report.rejected, String(outcome.status));
      return false;
    case 'lost':
      report.lost += 1;
      return false;
    default:
      report.violations.push(`${text} was answered with ${outcome.text}`);
      return true;
  }
}

/** Compares a result with the first one. @returns whether there are two */
function learn(
  task: Task,
  { isReplayed, run }: { readonly run: string; readonly isReplayed: boolean },
  report: Run['report'],
): boolean {
  const { text, run: first } = task;
  if (isReplayed) report.replayed += 1;
  if (first !== undefined && (run !== first || !isReplayed)) {
    report.violations.push(
      `${text} was run ${first}, and its repeat was run ${run}, replayed: ${isReplayed}.`,
    );
  }
  task.run = run;
  return first !== undefined;
}

/** Looks for an order whose call was interrupted. If it has not run, the agent repeats it with a new key. */
async function look(task: Task, { report, services }: Run): Promise<boolean> {
  const runs = await findOrder(services.origin, task.text);
  if (runs.length > 0) {
    report.looked.found += 1;
    return true;
  }
  if (!mayBeCut(task.attempts)) report.violations.push(`${task.text} is blocked, and did not run.`);
  report.looked.repeated += 1;
  Object.assign(task, { key: newKey(), attempts: [] } satisfies Partial<Task>);
  return false;
}

/** Repeats a call until the agent has two results, or has found the order. */
async function settle(task: Task, run: Run): Promise<void> {
  for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, 1000)) {
    const { run: known } = task;
    if (await attempt(task, run)) return;
    if (Date.now() > run.faultEndedAt + longestMs) {
      const last = JSON.stringify(task.attempts.at(-1)?.outcome);
      run.report.violations.push(`${task.text} is ${last}, ${longestMs} ms after the last fault.`);
      return;
    }
    if (task.run === known) await sleep(pauseMs);
  }
}

/**
 * Starts a service, and another each time that it is killed: it is prepared before.
 * @param onEnd called with the signal or the exit code of one that ended by itself
 */
function serviceProcesses(
  env: Readonly<Record<string, string>>,
  onEnd: (end: string | number | null) => void,
) {
  const running = new Set<ChildProcess>();
  async function prepare(): Promise<ChildProcess> {
    // LMDB prints each error of the disk.
    const child = fork(file, {
      execArgv: ['--conditions=trpc-gateway-source'],
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    running.add(child);
    child.once('exit', (code, signal) => {
      if (running.delete(child)) onEnd(signal ?? code);
    });
    await once(child, 'message');
    return child;
  }
  async function serveNext() {
    const child = await spare;
    spare = prepare();
    child.send('listen');
    const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }];
    return { child, origin: `http://127.0.0.1:${port}` };
  }
  async function end(child: ChildProcess): Promise<void> {
    running.delete(child);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
  let spare = prepare();
  let serving = serveNext();
  let kills = 0;
  return {
    kills: () => kills,
    origin: async () => (await serving).origin,
    pid: async () => (await serving).child.pid ?? 0,
    /** Kills the service, and resolves when the next one serves. */
    async kill(): Promise<void> {
      const { child } = await serving;
      kills += 1;
      // Callers wait for the next one from here on.
      serving = end(child).then(serveNext);
      await serving;
    },
    async end(): Promise<void> {
      await Promise.allSettled([serving, spare]);
      await Promise.all([...running].map(end));
    },
  };
}

/** How many services run rounds at the same time on each kind of state: they wait most of the time. */
const services = 4;

async function inParallel(
  runRounds: (rounds: number) => Promise<AgentReport>,
  rounds: number,
): Promise<AgentReport> {
  const reports = await Promise.all(
    Array.from({ length: services }, (_, at) => runRounds(Math.floor((rounds + at) / services))),
  );
  const sum = (of: (report: AgentReport) => number) => reports.reduce((all, each) => all + of(each), 0);
  function sums(of: (report: AgentReport) => Readonly<Record<string, number>>): Record<string, number> {
    const total: Record<string, number> = {};
    for (const [name, number] of reports.flatMap((each) => Object.entries(of(each))))
      count(total, name, number);
    return total;
  }
  return {
    rounds: sums((each) => each.rounds),
    orders: sum(({ orders }) => orders),
    calls: sums(({ calls }) => calls),
    lost: sum(({ lost }) => lost),
    replayed: sum(({ replayed }) => replayed),
    rejected: sums(({ rejected }) => rejected),
    looked: {
      found: sum(({ looked }) => looked.found),
      repeated: sum(({ looked }) => looked.repeated),
    },
    violations: reports.flatMap(({ violations }) => violations),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rounds = countArgument('ROUNDS', process.env['ROUNDS'], 1000);
  const onDatabase = mongodbUri === undefined ? 0 : Math.floor(rounds / 2);
  const [folder, mongodb] = await Promise.all([
    inParallel(agentsOnFolder, rounds - onDatabase),
    onDatabase === 0 ? undefined : inParallel(agentsOnDatabase, onDatabase),
  ]);
  process.stdout.write(`${JSON.stringify({ folder, mongodb }, null, 2)}\n`);
  if (mongodb === undefined) process.stderr.write('SKIPPED: MongoDB needs MONGODB_URI.\n');
  const violations = [...folder.violations, ...(mongodb?.violations ?? [])];
  process.exitCode = violations.length === 0 ? 0 : 1;
}
