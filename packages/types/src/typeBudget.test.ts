import { describe, expect, it } from 'vitest';
import { budgets, costOf } from './testing/typeBudget.ts';

describe('the generated types of 200 procedures', () => {
  it.each(budgets)(
    'cost a consumer that calls $calls of them at most $instantiations instantiations',
    async ({ calls, instantiations }) => {
      const cost = await costOf(calls, { compiler: 'TypeScript 7', exactOptionalPropertyTypes: true });
      expect(cost.instantiations).toBeGreaterThan(0);
      expect(cost.instantiations).toBeLessThanOrEqual(instantiations);
    },
    60_000,
  );
});
