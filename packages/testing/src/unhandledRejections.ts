import { setTimeout as sleep } from 'node:timers/promises';

/** Runs `use`, and returns the reasons of promises that nothing handled meanwhile: each would end a process. */
export async function unhandledRejections(use: () => unknown): Promise<readonly unknown[]> {
  const reasons: unknown[] = [];
  const add = (reason: unknown) => void reasons.push(reason);
  process.on('unhandledRejection', add);
  try {
    await use();
    // Node reports a rejection after the callbacks of promises.
    await sleep(5);
  } finally {
    process.off('unhandledRejection', add);
  }
  return reasons;
}
