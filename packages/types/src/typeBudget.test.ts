import { expect, it } from 'vitest';
import { countInstantiations } from './testing/typeBudget.ts';

it.each([
  { calls: 200, most: 30_000 },
  { calls: 4, most: 5_000 },
])(
  'a consumer that calls $calls of 200 procedures needs at most $most instantiations',
  async ({ calls, most }) => {
    const instantiations = await countInstantiations(calls);
    expect(instantiations).toBeGreaterThan(0);
    expect(instantiations).toBeLessThanOrEqual(most);
  },
);
