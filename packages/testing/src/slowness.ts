import { execFileSync } from 'node:child_process';

/** How much processor time the measurement takes, in milliseconds. An idle core needs little more. */
const workMs = 250;

/** How many times slower than an idle core this is, 1 to 8, for deadlines. Measured by vitest.config.ts. */
export const slowness = Number(process.env['TEST_SLOWNESS'] ?? 1);

export function measureSlowness(): number {
  const begun = performance.now();
  execFileSync(process.execPath, ['-e', `while (process.cpuUsage().user < ${workMs * 1000});`]);
  return Math.min(Math.max((performance.now() - begun) / workMs, 1), 8);
}

/** How long tests wait for a state, in milliseconds. Only one that never comes takes so long. */
export const deadlineMs = 30_000 * slowness;

/** Whether upper bounds of times are checked: with `PETSTORE_TESTS`, which has the machine for itself. */
export const measures: boolean = process.env['PETSTORE_TESTS'] !== undefined;

/** Returns a time if it is measured (`measures`), otherwise 0, which is below each bound. */
export const measured = (ms: number): number => (measures ? ms : 0);
