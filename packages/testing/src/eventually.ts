import { setTimeout as sleep } from 'node:timers/promises';
import { deadlineMs as standard } from './slowness.ts';

/**
 * Waits until a condition holds.
 * @param what what is waited for, which is called for the message
 * @throws if it does not hold within a deadline, by default `deadlineMs` of slowness.ts
 */
export async function eventually(
  what: () => string,
  holds: () => boolean | Promise<boolean>,
  deadlineMs = standard,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Not within ${deadlineMs} ms: ${what()}`);
    await sleep(5);
  }
}
