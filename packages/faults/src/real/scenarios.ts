import { mongodbUri } from '@petstore/testing/mongodb';
import { commandMissing } from '@petstore/testing/commandMissing';
import { hasRedis } from '@petstore/testing/redis';
import { lacksSmallDisks } from '@petstore/testing/smallDisk';
import { faults } from './faults.ts';
import {
  type Scenario,
  type ScenarioReport,
  openService,
  runScenario,
  type RunOptions,
  type Service,
  serviceName,
} from './runScenario.ts';

const servers = ['uws', 'node', 'bun'] as const;

/** Returns the scenarios that some options choose, of those that this machine can run. Without a choice, each has another server. */
export function scenariosOf(
  chosen: { readonly [name in keyof Scenario]?: string | undefined } = {},
): readonly Scenario[] {
  const lacksStrace = commandMissing('strace');
  const lacksDisks = lacksSmallDisks();
  const canRun = ({ fault, state }: Scenario) => {
    const { storage, usesStrace = false } = faults[state][fault] ?? {};
    if (state === 'redis' && !hasRedis) return false;
    if (state === 'mongodb' && mongodbUri === undefined) return false;
    return !(usesStrace && lacksStrace) && !(storage === 'smallDisk' && lacksDisks);
  };
  const isChosen = ({ fault, state }: Scenario) =>
    (chosen.state ?? state) === state && (chosen.fault ?? fault) === fault;
  const scenarios: Scenario[] = [];
  for (const state of ['folder', 'redis', 'mongodb'] as const)
    for (const fault of Object.keys(faults[state])) {
      const server =
        servers.find((each) => each === chosen.server) ?? servers[scenarios.length % servers.length];
      scenarios.push({ state, fault, server: server ?? 'node' });
    }
  return scenarios.filter((scenario) => isChosen(scenario) && canRun(scenario));
}

/**
 * Runs histories of scenarios. Cells that can share a service run in it one after the other, the others beside them, `parallel` at a
 * time: they wait most of the time.
 * @returns the report of each, in their order
 */
export function runScenarios(
  scenarios: readonly Scenario[],
  { parallel, ...options }: RunOptions & { readonly parallel: number },
): readonly Promise<ScenarioReport>[] {
  const runs = scenarios.map((scenario) => ({ scenario, ...Promise.withResolvers<ScenarioReport>() }));
  const waiting = [...Map.groupBy(runs, ({ scenario }) => serviceName(scenario)).values()];
  const runNext = async (): Promise<void> => {
    for (let group = waiting.shift(); group; group = waiting.shift()) {
      let service: Service | undefined;
      for (const { scenario, reject, resolve } of group) {
        try {
          service ??= await openService(scenario);
          const report = await runScenario(service, scenario, options);
          // After a violation, the next scenario has a new one.
          const isLast = scenario === group.at(-1)?.scenario || report.violations.length > 0;
          const problems = isLast ? await service.end() : [];
          if (isLast) service = undefined;
          resolve({ ...report, violations: [...report.violations, ...problems] });
        } catch (error) {
          reject(error);
          await service?.end();
          service = undefined;
        }
      }
    }
  };
  for (let at = 0; at < parallel; at += 1) void runNext();
  return runs.map(({ promise }) => promise);
}
