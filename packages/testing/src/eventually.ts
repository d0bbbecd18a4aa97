import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until a condition holds.
 * @param what what is waited for, which is called for the message
 * @throws if it does not hold within a minute
 */
export async function eventually(
  what: () => string,
  holds: () => boolean | Promise<boolean>,
  deadlineMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Not within ${deadlineMs} ms: ${what()}`);
    await sleep(5);
  }
}
