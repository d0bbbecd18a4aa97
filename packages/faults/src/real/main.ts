/*
 * Runs histories of a service of real processes with each fault of each state, and prints a table. As a command,
 * `npm run faults -w @petstore/faults`, it runs 5 histories of each scenario. Options choose scenarios, such as
 * `-- --state redis --server node --fault 'killed Redis' --rounds 100`; `--seed` chooses the first history. Of one scenario,
 * what happened in a history with a violation is printed, and with `--rounds 1` in any.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { countArgument } from '@petstore/testing/countArgument';
import { scenariosOf, runScenarios } from './scenarios.ts';

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
const scenarios = scenariosOf(values);
if (scenarios.length === 0) throw new Error(`No scenario is chosen by ${JSON.stringify(values)}.`);
const parallel = countArgument('--parallel', values.parallel, 4);
const seeds = Array.from({ length: rounds }, (_, at) => first + at);
const heads = ['rounds', 'calls', 'violations', 'slowest ms', 'recovery ms'];
const columns = (figures: readonly unknown[]) => figures.map((each) => String(each).padStart(12)).join('');

process.stdout.write(`${'state    server  fault'.padEnd(46)}${columns(heads)}\n`);
const reports = runScenarios(scenarios, { parallel, seeds, isRead: scenarios.length === 1 });
for (const [at, { fault, server, state }] of scenarios.entries()) {
  const report = await reports[at];
  if (report === undefined) continue;
  const { calls, lines, recoveryMs, slowestMs, violations } = report;
  for (const line of lines) process.stdout.write(`${line}\n`);
  const figures = [report.rounds, calls, violations.length, slowestMs, recoveryMs];
  process.stdout.write(`${state.padEnd(8)} ${server.padEnd(6)}  ${fault.padEnd(29)}${columns(figures)}\n`);
  for (const each of violations) process.stdout.write(`  ${each}\n`);
  if (violations.length > 0) process.exitCode = 1;
}
