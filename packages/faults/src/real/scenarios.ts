import { commandMissing } from '@petstore/testing/commandMissing';
import { mongodbUri } from '@petstore/testing/mongodb';
import { hasRedis } from '@petstore/testing/redis';
import { lacksSmallDisks } from '@petstore/testing/smallDisk';
import { type Fault, isOver } from '../history/fault.ts';
import { lengthMs, type Plan, planHistory, type Step } from '../history/plan.ts';
import { type Report, runHistory } from '../history/runHistory.ts';
import { Random } from '@petstore/testing/random';
import { faults, type RealFault, type Target } from './faults.ts';
import { damageOf, FolderOutside, openOutside } from './storeOutside.ts';
import { Processes, writtenErrors } from './processes.ts';
import { openStorage, type ProcessOptions } from './storage.ts';
import { realTransport } from './transport.ts';

/** A scenario of the table: a fault of a service on a server and a state. */
export interface Scenario {
  readonly state: keyof typeof faults;
  readonly fault: string;
  readonly server: ProcessOptions['server'];
}

const servers = ['uws', 'node', 'bun'] as const;
const processCount = 2;

/** How much longer a call may take than on the virtual clock, in milliseconds: the processes share a machine with others. */
const marginMs = 20_000;

/** Returns the scenarios that this machine can run. Each is on another server. */
export function scenariosHere(): readonly Scenario[] {
  const lacksStrace = commandMissing('strace');
  const lacksDisks = lacksSmallDisks();
  const canRun = ({ fault, state }: Scenario) => {
    const { storage, usesStrace = false } = faults[state][fault] ?? {};
    if (state === 'redis' && !hasRedis) return false;
    if ((state === 'mongodb' || state === 'database') && mongodbUri === undefined) return false;
    return !(usesStrace && lacksStrace) && !(storage === 'smallDisk' && lacksDisks);
  };
  return (['folder', 'redis', 'mongodb', 'embedded', 'database'] as const)
    .flatMap((state) => Object.keys(faults[state]).map((fault) => ({ state, fault })))
    .map(({ fault, state }, at) => ({ fault, state, server: servers[at % servers.length] ?? 'node' }))
    .filter(canRun);
}

/** Runs the history of a seed with the fault of a scenario, in a service of its own: real processes. */
export async function runScenario({ fault: name, server, state }: Scenario, seed: number): Promise<Report> {
  const fault = faults[state][name] as RealFault;
  const storage = await openStorage(fault.storage ?? state, processCount);
  const { folder, outside } = storage;
  const optionsAt = (at: number) => ({ server, folder, outside, location: storage.locationOf(at) });
  const processes = await Processes.open(processCount, optionsAt, fault.ends);
  const environment = {
    transport: realTransport(processes, new Random(seed)),
    faults: [{ ...fault, name, begin: once(fault.begin, { processes, storage }) }],
    marginMs,
    published: [],
    start: async () => {},
    revoke: (token: string) => new FolderOutside(outside).revoke(token),
    async effects() {
      // A busy database may not respond in time at first.
      const opened = await openOutside(optionsAt(0)).catch(() => openOutside(optionsAt(0)));
      const all = await opened.outside.all();
      await opened.close();
      return all;
    },
    end: async () => [...(await processes.end()), ...(await damageOf(optionsAt(0)))],
  };
  try {
    const report = await runHistory(planWithFault(seed), environment, true);
    return { ...report, lines: [...report.lines, ...writtenErrors(processes.written)] };
  } finally {
    await storage.remove();
  }
}

/** Begins a fault unless it lasts from an earlier begin. */
function once(begin: RealFault['begin'], target: Target): Fault['begin'] {
  let lasts = false;
  return async (random) => {
    if (lasts) return isOver;
    lasts = true;
    const end = await begin(target, random);
    return async () => {
      await end();
      lasts = false;
    };
  };
}

/** How long each fault lasts, in milliseconds, instead of 0 to 6 s. Then the other steps begin before, during and after it, too. */
export const outageMs = Number(process.env['OUTAGE_MS'] ?? 0);

/** How many orders begin around the begin of each fault, and how many long calls run then. */
const ordersPerFault = 6;
const longCallsPerFault = 3;

/** Plans a history with two faults. */
function planWithFault(seed: number): Plan {
  const plan = planHistory(seed, ['folder']);
  const random = new Random(seed + 1);
  const steps = plan.steps.map((step): Step => {
    const stretched = { ...step, at: step.at * (1 + (2 * outageMs) / lengthMs) };
    return stretched.kind === 'fault' && outageMs > 0 ? { ...stretched, forMs: outageMs } : stretched;
  });
  const ofFaults = steps.filter(({ kind }) => kind === 'fault').slice(0, 2);
  const others = steps.filter(({ kind }) => kind !== 'fault');
  const aroundFaults = ofFaults.flatMap(({ at: begin }, fault): Step[] => {
    const common = (at: number) => ({ at: Math.max(0, at), seed: random.below(2 ** 31) });
    const orders = Array.from({ length: ordersPerFault }, (_, at): Step => ({
      ...common(begin + random.from(-30, 60)),
      kind: 'order',
      text: `fault-${fault}-order-${at}`,
      ms: random.pick([0, 3, 20]),
      // Repeats until the fault is over would be more calls than one may make.
      token: `agent-${fault}-${at}`,
    }));
    const longCalls = Array.from({ length: longCallsPerFault }, (_, at): Step => ({
      ...common(begin - 1500),
      kind: 'note',
      text: `fault-${fault}-note-${at}`,
      ms: 3000,
      token: 'ada',
    }));
    return [...orders, ...longCalls];
  });
  return { ...plan, processes: processCount, steps: [...others, ...ofFaults, ...aroundFaults] };
}
