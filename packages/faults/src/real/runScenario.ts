import { planHistory, type Plan, type Step } from '../history/plan.ts';
import { type Report, runHistory, type Environment } from '../history/runHistory.ts';
import { type Fault, isOver } from '../history/fault.ts';
import { Random } from '../random.ts';
import { FolderOutside } from './folderOutside.ts';
import { faults, type RealFault, type Target } from './faults.ts';
import { Processes } from './processes.ts';
import type { ProcessOptions } from './serviceProcess.ts';
import { openStorage } from './storage.ts';
import { RealTransport } from './transport.ts';

/** A scenario of the table: a fault of a service on a server and a state. */
export interface Scenario {
  readonly state: keyof typeof faults;
  readonly fault: string;
  readonly server: ProcessOptions['server'];
}

const processCount = 2;

/** How much longer a call may take than on the virtual clock, in milliseconds: the processes share a machine with others. */
const marginMs = 20_000;

export interface ScenarioReport {
  readonly rounds: number;
  readonly calls: number;
  readonly slowestMs: number;
  readonly recoveryMs: number;
  /** A sentence each, with the seed of its history. */
  readonly violations: readonly string[];
  /** What has happened in histories with violations, or in the only one. */
  readonly lines: readonly string[];
}

/** What several scenarios may share. */
export interface Service extends Target {
  /** @returns what has gone wrong, a sentence each */
  end(): Promise<readonly string[]>;
}

const faultOf = ({ fault, state }: Scenario): RealFault => faults[state][fault] as RealFault;

/** Names the services that a scenario can use: those of the same name. */
export function serviceName(scenario: Scenario): string {
  const { ends = false, storage = scenario.state } = faultOf(scenario);
  return `${storage} ${scenario.server} ${ends}`;
}

/** Starts the service of a scenario: real processes. */
export async function openService(scenario: Scenario): Promise<Service> {
  const { ends, storage: kind = scenario.state } = faultOf(scenario);
  const storage = await openStorage(kind, processCount);
  const { folder, outside } = storage;
  const optionsAt = (at: number) => ({
    server: scenario.server,
    folder,
    outside,
    location: storage.locationOf(at),
  });
  const processes = await Processes.open(processCount, optionsAt, ends);
  return {
    processes,
    storage,
    async end() {
      // Before what they share.
      const problems = await processes.end();
      await storage.remove();
      return problems;
    },
  };
}

export interface RunOptions {
  readonly seeds: readonly number[];
  /** Whether a person reads what has happened. */
  readonly isRead?: boolean;
}

/** Runs histories with a fault in a service, whose processes run from the first to the last. */
export async function runScenario(
  service: Service,
  scenario: Scenario,
  { isRead = false, seeds }: RunOptions,
): Promise<ScenarioReport> {
  const reports: Report[] = [];
  const violations: string[] = [];
  for (const seed of seeds) {
    const plan = planWithFault(seed, `${scenario.fault.replaceAll(' ', '-')}-${seed}`);
    const report = await runHistory(plan, environmentOf(service, scenario, seed), isRead);
    reports.push(report);
    violations.push(...report.violations.map((each) => `seed ${seed}: ${each}`));
  }
  const longest = (of: (report: Report) => number) => Math.max(...reports.map(of));
  return {
    rounds: reports.length,
    calls: reports.reduce((total, { calls }) => total + calls, 0),
    slowestMs: longest(({ slowestMs }) => slowestMs),
    recoveryMs: longest(({ recoveryMs }) => recoveryMs),
    violations,
    lines: reports.flatMap(({ lines, violations: own }) =>
      own.length > 0 || reports.length === 1 ? lines : [],
    ),
  };
}

function environmentOf({ processes, storage }: Service, scenario: Scenario, seed: number): Environment {
  const fault = faultOf(scenario);
  const outside = new FolderOutside(storage.outside);
  const begin = inTurn(fault.begin, { processes, storage });
  return {
    transport: new RealTransport(processes, new Random(seed)),
    faults: [{ ...fault, name: scenario.fault, begin }],
    marginMs,
    published: [],
    start: async () => {},
    revoke: (token) => outside.revoke(token),
    effects: () => outside.all(),
    async end() {
      await outside.restoreTokens();
      return processes.takeProblems();
    },
  };
}

/** Begins a fault unless it lasts, and ends it at the last end, one after the other. */
function inTurn(begin: RealFault['begin'], target: Target): Fault['begin'] {
  let count = 0;
  let end: Awaited<ReturnType<RealFault['begin']>> = isOver;
  let last: Promise<unknown> = Promise.resolve();
  return async (random) => {
    count += 1;
    if (count === 1)
      last = last.then(async () => {
        end = await begin(target, random);
      });
    await last;
    return async () => {
      count -= 1;
      if (count === 0) last = last.then(() => end());
      await last;
    };
  };
}

/** How many orders begin around the begin of each fault, and how many long calls run then. */
const ordersPerFault = 6;
const longCallsPerFault = 3;

/** Plans a history with two faults. @param prefix of its names, which no other history of the service has */
function planWithFault(seed: number, prefix: string): Plan {
  const plan = planHistory(seed, ['folder']);
  const random = new Random(seed + 1);
  const names = plan.steps.map((step): Step => {
    if (step.kind === 'order' || step.kind === 'note') return { ...step, text: `${prefix}-${step.text}` };
    if (step.kind === 'publish' || step.kind === 'subscribe')
      return { ...step, channel: `${prefix}-${step.channel}` };
    return step.kind === 'answer' ? { ...step, key: `${prefix}-${step.key}` } : step;
  });
  const ofFaults = names.filter(({ kind }) => kind === 'fault').slice(0, 2);
  // Those that begin many runs would have the keys of other histories.
  const others = names.filter(({ kind }) => kind !== 'fault' && kind !== 'answers');
  const aroundFaults = ofFaults.flatMap(({ at: begin }, fault): Step[] => {
    const common = (at: number) => ({ at: Math.max(0, at), seed: random.below(2 ** 31) });
    const orders = Array.from({ length: ordersPerFault }, (_, at): Step => ({
      ...common(begin + random.from(-30, 60)),
      kind: 'order',
      text: `${prefix}-fault-${fault}-order-${at}`,
      ms: random.pick([0, 3, 20]),
      // Repeats until the fault is over would be more calls than one may make.
      token: `agent-${fault}-${at}`,
    }));
    const longCalls = Array.from({ length: longCallsPerFault }, (_, at): Step => ({
      ...common(begin - 1500),
      kind: 'note',
      text: `${prefix}-fault-${fault}-note-${at}`,
      ms: 3000,
      token: 'ada',
    }));
    return [...orders, ...longCalls];
  });
  return { ...plan, processes: processCount, steps: [...others, ...ofFaults, ...aroundFaults] };
}
