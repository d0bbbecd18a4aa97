import { expect, it } from 'vitest';
import { crashTest } from './testing/crash/crashTest.ts';

it(
  'a service that is killed under load runs no order with an idempotency key twice and loses no acknowledged one, in 5 rounds',
  { timeout: 60_000 },
  async () => {
    const { acknowledged, violations } = await crashTest({ rounds: 5, awaitsLeases: false });
    expect(violations).toEqual([]);
    expect(acknowledged.policy).toBeGreaterThan(0);
    expect(acknowledged.transactional).toBeGreaterThan(0);
  },
);
