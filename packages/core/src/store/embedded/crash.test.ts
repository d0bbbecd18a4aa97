import { expect, test } from 'vitest';
import { crashTest } from './testing/crashTest.ts';

test(
  'what was acknowledged is there, unchanged, after the process was killed: 20 rounds',
  { timeout: 60_000 },
  async () => {
    const { acknowledged, faults } = await crashTest(20);
    expect(faults).toEqual([]);
    expect(acknowledged).toBeGreaterThan(20);
  },
);
