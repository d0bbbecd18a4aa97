import { commandMissing } from '@petstore/testing/commandMissing';
import { mongodbUri } from '@petstore/testing/mongodb';
import { expect, it } from 'vitest';
import { faultsOfDatabase, faultsOfFolder } from './testing/faults/faultTest.ts';

const timeout = 120_000;

it.skipIf(commandMissing('strace'))(
  'a service whose state folder fails or hangs runs no order twice, blocks no key, answers in time and keeps serving, in 4 rounds',
  { timeout },
  async () => {
    const { statuses, violations } = await faultsOfFolder(4);
    expect(violations).toEqual([]);
    expect(statuses[503]).toBeGreaterThan(0);
  },
);

it.skipIf(mongodbUri === undefined)(
  'a service whose database fails or hangs runs no order twice, blocks no key, answers in time and keeps serving, in 4 rounds',
  { timeout },
  async () => {
    const { statuses, violations } = await faultsOfDatabase(4);
    expect(violations).toEqual([]);
    expect(statuses[503]).toBeGreaterThan(0);
  },
);
