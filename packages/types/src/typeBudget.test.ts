import { describe, expect, it } from 'vitest';
import { budgets, measureCost } from './testing/typeBudget.ts';

describe('the generated types of 200 procedures', () => {
  it.each(budgets)(
    'a consumer that calls $calls of 200 procedures needs at most $instantiations instantiations',
    async ({ calls, instantiations }) => {
      const cost = await measureCost(calls, { compiler: 'TypeScript 7', exactOptionalPropertyTypes: true });
      expect(cost.instantiations).toBeGreaterThan(0);
      expect(cost.instantiations).toBeLessThanOrEqual(instantiations);
    },
  );
});
