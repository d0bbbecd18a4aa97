/*
 * Runs histories by seed, until one violates a rule: `npm run simulate -- --seconds 60`. Options: `--seed N`, also more than once,
 * prints one, `--seed STORAGE:N` one of a storage; `--first N --count N` runs these; `--seconds N` runs new ones. A failing one
 * is printed with its seed, without the steps that it does not need; the exit code is 1. The option of Node 22, which is the
 * default of Node 24, saves a tenth of the time or more: without it, hooks run for each promise.
 */
import './install.ts';
import { parseArgs } from 'node:util';
import { storageNames, type Plan, planHistory } from '../history/plan.ts';
import type { Report } from '../history/runHistory.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';
import { watchHistories } from './watchdog.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', multiple: true },
    first: { type: 'string' },
    count: { type: 'string' },
    seconds: { type: 'string' },
  },
});
function toNumber(value: string): number {
  if (Number(value) >= 0) return Number(value);
  throw new Error(`"${value}" is not a number.`);
}

const watch = watchHistories();

function run(plan: Plan, isRead = false): Promise<Report> {
  watch(plan.seed);
  return simulate(plan, isRead);
}

/** The first history of each kind loads code, which takes time that no clock shows. */
async function warmUp(): Promise<void> {
  for (let seed = 0; seed < 10; seed += 1)
    // One after the other: there is one clock.
    for (const storage of storageNames) await run(planHistory(seed, [storage]));
}

async function print(plan: Plan): Promise<void> {
  const report = await run(plan, true);
  process.stdout.write(`${report.lines.join('\n')}\n`);
  for (const violation of report.violations) process.stdout.write(`VIOLATION: ${violation}\n`);
  if (report.violations.length > 0) process.exitCode = 1;
}

async function explore(): Promise<void> {
  // Neither the clock nor the randomness of this process is a new one.
  const first = toNumber(values.first ?? String(process.hrtime.bigint() % 1_000_000_000n));
  const seconds = toNumber(values.seconds ?? 'Infinity');
  const count = toNumber(values.count ?? (values.seconds ? 'Infinity' : '10000'));
  const startedAt = process.uptime();
  const faults: Record<string, number> = {};
  let histories = 0;
  let calls = 0;
  for (; histories < count && process.uptime() - startedAt < seconds; histories += 1) {
    const plan = planHistory(first + histories);
    const report = await run(plan);
    calls += report.calls;
    for (const fault of report.faults) faults[fault] = (faults[fault] ?? 0) + 1;
    if (report.violations.length === 0) continue;
    process.stdout.write(
      `--seed ${plan.storage}:${plan.seed} violates a rule: ${report.violations.join(' ')}\n\n`,
    );
    return await print(await shrink(plan, async (each) => (await run(each)).violations.length > 0));
  }
  process.stdout.write(
    `${histories} histories from seed ${first}, ${calls} calls, no violation. Faults: ${JSON.stringify(faults)}\n`,
  );
}

await warmUp();
if (values.seed === undefined) await explore();
else
  for (const each of values.seed) {
    const [seed = '', ...names] = each.split(':').toReversed();
    const chosen = storageNames.filter((name) => names.length === 0 || names.includes(name));
    await print(planHistory(toNumber(seed), chosen));
  }
