/*
 * Runs histories of services of real processes with each fault of each state, and prints a table. As a command,
 * `npm run faults -w @petstore/faults`, it runs 5 histories of each scenario. Options choose scenarios, such as
 * `-- --state redis --server node --fault 'killed Redis' --rounds 100`; `--seed` chooses the first history. Of one scenario,
 * what happened in a history with a violation is printed, and with `--rounds 1` in any.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { countArgument } from '@petstore/testing/countArgument';
import { runScenario, scenariosOf } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    state: { type: 'string' },
    fault: { type: 'string' },
    server: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    parallel: { type: 'string' },
  },
});
const rounds = countArgument('--rounds', values.rounds, 5);
const first = countArgument('--seed', values.seed, randomInt(2 ** 30));
const parallel = countArgument('--parallel', values.parallel, 4);
const scenarios = scenariosOf(values);
if (scenarios.length === 0) throw new Error(`No scenario is chosen by ${JSON.stringify(values)}.`);
const histories = scenarios.flatMap((scenario) =>
  Array.from({ length: rounds }, (_, at) => ({ scenario, seed: first + at })),
);
const print = (heads: readonly string[], figures: readonly unknown[]) => {
  const [state = '', server = '', fault = ''] = heads;
  const columns = figures.map((each) => String(each).padStart(12)).join('');
  process.stdout.write(`${state.padEnd(8)} ${server.padEnd(6)}  ${fault.padEnd(37)}${columns}\n`);
};

print(['state', 'server', 'fault'], ['seed', 'calls', 'violations', 'slowest ms', 'recovery ms']);
const waiting = histories.values();
async function runWaiting(): Promise<void> {
  // Those that run side by side share the iterator.
  for (const { scenario, seed } of waiting) {
    const report = await runScenario(scenario, seed, scenarios.length === 1);
    const { calls, lines, recoveryMs, slowestMs, violations } = report;
    if (violations.length > 0 || histories.length === 1)
      for (const line of lines) process.stdout.write(`${line}\n`);
    const { fault, server, state } = scenario;
    print([state, server, fault], [seed, calls, violations.length, slowestMs, recoveryMs]);
    for (const each of violations) process.stdout.write(`  ${each}\n`);
    if (violations.length > 0) process.exitCode = 1;
  }
}
await Promise.all(Array.from({ length: parallel }, runWaiting));
