import { commandMissing } from '@petstore/testing/commandMissing';
import { mongodbUri } from '@petstore/testing/mongodb';
import { hasRedis } from '@petstore/testing/redis';
import { expect, it } from 'vitest';
import {
  type FaultReport,
  faultsOfDatabase,
  faultsOfFolder,
  faultsOfRedis,
} from './testing/faults/faultTest.ts';

const timeout = 120_000;

/**
 * Runs rounds without a violation, and repeats them if no call was rejected: on a busy machine, the calls of a round may
 * end before its fault begins.
 */
async function rejectedCalls(
  runRounds: (rounds: number) => Promise<FaultReport>,
  rounds = 4,
): Promise<number> {
  let rejected = 0;
  for (let attempt = 0; attempt < 3 && rejected === 0; attempt += 1) {
    const { statuses, violations } = await runRounds(rounds);
    expect(violations).toEqual([]);
    rejected = statuses[503] ?? 0;
  }
  return rejected;
}

it.skipIf(commandMissing('strace'))(
  'a service whose state folder fails or hangs runs no order twice, blocks no key, answers in time and keeps serving, in 4 rounds',
  { timeout },
  async () => {
    expect(await rejectedCalls(faultsOfFolder)).toBeGreaterThan(0);
  },
);

it.skipIf(mongodbUri === undefined)(
  'a service whose database fails or hangs runs no order twice, blocks no key, answers in time and keeps serving, in 4 rounds',
  { timeout },
  async () => {
    expect(await rejectedCalls(faultsOfDatabase)).toBeGreaterThan(0);
  },
);

it.skipIf(!hasRedis)(
  'a service whose Redis is killed, fails or hangs runs no order twice, blocks no key, answers in time and keeps serving, in 6 rounds',
  { timeout },
  async () => {
    expect(await rejectedCalls(faultsOfRedis, 6)).toBeGreaterThan(0);
  },
);
