import { execFileSync } from 'node:child_process';

/** How much processor time the measurement takes, in milliseconds. An idle core needs little more. */
const workMs = 250;

/**
 * How many times longer than on an idle core something takes here, from 1 to 8: the deadlines of tests, and of what waits for
 * a state, grow by it. vitest.config.ts measures it once, before the first test.
 */
export const slowness = Number(process.env['TEST_SLOWNESS'] ?? 1);

export function measureSlowness(): number {
  const begun = performance.now();
  execFileSync(process.execPath, ['-e', `while (process.cpuUsage().user < ${workMs * 1000});`]);
  return Math.min(Math.max((performance.now() - begun) / workMs, 1), 8);
}

/** How long tests wait for a state, in milliseconds. Only one that never comes takes so long. */
export const deadlineMs = 30_000 * slowness;

/**
 * Whether upper bounds of times are checked: with `PETSTORE_TESTS`, whose runs have the machine for themselves. `npm test`
 * checks none.
 */
export const measures: boolean = process.env['PETSTORE_TESTS'] !== undefined;

/** Returns a time if it is measured (`measures`), otherwise 0, which is below each bound. */
export const measured = (ms: number): number => (measures ? ms : 0);
