import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inputs } from '@petstore/testing/forms';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe, expect, it } from 'vitest';
import { type Plan, planHistory } from '../history/plan.ts';
import { shrink } from './shrink.ts';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Runs the command in a process of its own, whose clock it replaces. @returns what it prints, also if a history violates a rule */
async function simulate(args: readonly string[], node = process.execPath): Promise<string> {
  const imports = ['--conditions=trpc-gateway-source', '--import', fileOf('hooks.ts')];
  const command = promisify(execFile);
  const run = command(node, [...imports, fileOf('main.ts'), ...args], { maxBuffer: 2 ** 26 });
  const { stderr, stdout } = await run.catch((error: Awaited<typeof run>) => error);
  return stdout + stderr;
}

/** Seeds that have found faults of the product: with the fault, their histories violate a rule. */
const seeds = [
  // After an error of the disk, readers of a folder failed until the next event was stored.
  'folder:100072',
  // A copy of a log without events, written over one with events, gave their ids to others.
  'folder:100385',
  // Processes that opened such a copy in the same millisecond forgot which ids were lost.
  'folder:100019',
  // None.
  'memory:7',
  'redis:7',
];

describe('npm run simulate', () => {
  it('no history of new seeds violates a rule', async () => {
    // `.ci/run` runs the command for a minute.
    const count = String(inputs(150));
    const printed = await simulate(['--first', String(process.env['TEST_SEED']), '--count', count]);
    expect(printed).toMatch(/ no violation/);
  });

  it('a history begins with none of the states that were away at the end of an earlier one', async () => {
    // The last one floods a gateway that has served the first one.
    expect(await simulate(['--first', '27230444', '--count', '4'])).toMatch(/ no violation/);
  });

  it('seeds give the same histories again, on each Node, which violate no rule', async () => {
    const args = seeds.flatMap((seed) => ['--seed', seed]);
    const first = await simulate(args);
    expect(first).not.toContain('VIOLATION');
    expect(first.split('\n').length).toBeGreaterThan(20 * seeds.length);
    for (const { executable } of [{ executable: process.execPath }, ...runtimesToTest('node24', 'node26')])
      expect(await simulate(args, executable)).toBe(first);
  });
});

it('shrink leaves what a failure needs: the steps and the processes', async () => {
  const plan = { ...planHistory(1), processes: 3 };
  const needed = new Set([plan.steps[2], plan.steps.at(-1)]);
  const fails = async ({ processes, steps }: Plan) =>
    processes > 1 && steps.filter((step) => needed.has(step)).length === 2;
  const { processes, steps } = await shrink(plan, fails);
  expect({ processes, steps: new Set(steps) }).toEqual({ processes: 2, steps: needed });
});
