import { expect, it } from 'vitest';
import { shortSoak, soak } from './soak.ts';

it('many subscriptions at once lose nothing, and clients that do not read cost no memory', async () => {
  const { faults } = await soak({ subject: 'gateway', ...shortSoak });
  expect(faults).toEqual([]);
});
