import { expect, it } from 'vitest';
import { crashTest } from './testing/crash/crashTest.ts';

it(
  'of a service that is killed no order with an idempotency key runs twice, and none that it acknowledged is lost: 5 rounds',
  { timeout: 60_000 },
  async () => {
    const { acknowledged, faults } = await crashTest({ rounds: 5, awaitsLeases: false });
    expect(faults).toEqual([]);
    expect(acknowledged.policy).toBeGreaterThan(0);
    expect(acknowledged.transactional).toBeGreaterThan(0);
  },
);
