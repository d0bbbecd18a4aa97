import { expect, it } from 'vitest';
import { heapGrowth, mostGrowthBytes } from './memory.ts';

it('calls of tools leave nothing in memory', async () => {
  expect(await heapGrowth(10_000)).toBeLessThan(mostGrowthBytes);
});
