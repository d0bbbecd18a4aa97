import { expect, it } from 'vitest';
import { loadDefaults, loadTest } from './testing/load/loadTest.ts';

it('200 subscribers in 4 processes get each of 1,000 events a second once and in order', async () => {
  const { delivered, published, rejected, violations } = await loadTest({
    ...loadDefaults,
    rate: 1000,
    seconds: 2,
    idleSeconds: 0,
  });
  expect(violations).toEqual([]);
  expect(published).toBeGreaterThan(0);
  // Each of 50 channels has 4 subscribers. An event that was rejected may be stored nevertheless.
  expect(delivered).toBeGreaterThanOrEqual(4 * published);
  expect(delivered).toBeLessThanOrEqual(4 * (published + rejected));
});
