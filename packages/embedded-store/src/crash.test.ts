import { expect, test } from 'vitest';
import { crashTest } from './testing/crashTest.ts';

test(
  'every acknowledged animal is stored unchanged after SIGKILL in 20 rounds',
  { timeout: 60_000 },
  async () => {
    const { acknowledged, violations } = await crashTest(20);
    expect(violations).toEqual([]);
    expect(acknowledged).toBeGreaterThan(20);
  },
);
