import { expect, it } from 'vitest';
import { heapGrowth, mostGrowthBytes } from './memory.ts';

it('calls of tools leave nothing in memory', async () => {
  const calls = 10_000;
  expect(await heapGrowth(calls)).toBeLessThan(mostGrowthBytes(calls));
});
