import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, it } from 'vitest';
import { acceptedTogether } from './testing/acceptedTogether.ts';

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

it('four processes that share a folder accept 1,000 calls with a limit of 1,000, within 1%', async () => {
  const folder = await temporaryFolder();
  // One hour: a token is refilled every 3.6 s, so even a slow machine gains less than 1%.
  const bucket = { limit: 1000, windowMs: 3_600_000 };
  const accepted = await acceptedTogether(4, { state: { folder }, ...bucket, calls: 600 });
  expect(accepted).toHaveLength(4);
  expect(sum(accepted)).toBeGreaterThanOrEqual(990);
  expect(sum(accepted)).toBeLessThanOrEqual(1010);
});
