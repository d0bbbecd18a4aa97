import type { Plan } from '../history/plan.ts';
import { type Report, runHistory, type Environment } from '../history/runHistory.ts';
import type { Published } from '../history/rules.ts';
import { Random } from '@petstore/testing/random';
import type { Effect, Outside } from '../service/service.ts';
import { createStorage } from './storages.ts';
import { beginHistory, passTime } from './install.ts';
import { SimulatedNetwork } from './network.ts';
import { Processes } from './processes.ts';
import { serviceFaults } from './serviceFaults.ts';

/** How long a history may take, in milliseconds of its time. */
const longestMs = 200_000;

/** How long what is left may take, in milliseconds. */
const leftMs = 20_000;

/** What is outside of the service: it survives all. */
class SimulatedOutside implements Outside {
  readonly effects: Effect[] = [];
  readonly revoked = new Set<string>();

  async add(effect: Effect): Promise<string> {
    this.effects.push(effect);
    return effect.run;
  }

  async find(text: string): Promise<readonly Effect[]> {
    return this.effects.filter((effect) => effect.text === text);
  }

  isRevoked(token: string): boolean {
    return this.revoked.has(token);
  }
}

/** Runs a history on the virtual clock. The same plan gives the same history. */
export async function simulate(plan: Plan, isRead = false): Promise<Report> {
  beginHistory(plan.seed);
  const outside = new SimulatedOutside();
  const storage = createStorage(plan.storage, new Random(plan.seed));
  const processes = new Processes(storage, outside);
  const network = new SimulatedNetwork(new Random(plan.seed + 1), () => processes.reachable);
  const published: Published[] = [];
  const environment: Environment = {
    transport: network,
    faults: [...serviceFaults(processes, network, storage.isShared), ...storage.faults(processes, published)],
    published,
    async start(count) {
      await Promise.all(Array.from({ length: count }, () => processes.start()));
    },
    revoke: (token) => void outside.revoked.add(token),
    effects: async () => outside.effects,
    async end() {
      await processes.end();
      return [];
    },
  };
  let report: Report | undefined;
  let failure: unknown;
  runHistory(plan, environment, isRead).then(
    (ended) => (report = ended),
    (error: unknown) => (failure = error),
  );
  await passTime(() => report !== undefined || failure !== undefined, longestMs);
  // What is left, such as the deadlines of calls.
  await passTime(() => false, leftMs);
  if (failure !== undefined) throw failure;
  if (report === undefined)
    return { calls: 0, faults: [], figures: '', lines: [], violations: ['It does not end.'] };
  return { ...report, violations: [...processes.free(), ...report.violations] };
}
