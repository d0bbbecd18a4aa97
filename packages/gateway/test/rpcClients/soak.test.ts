import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { shortSoak, soak } from './soak.ts';

it('many subscriptions at once lose nothing, and clients that do not read cost no memory', async () => {
  needs('a port');
  const { faults } = await soak({ subject: 'gateway', ...shortSoak });
  expect(faults).toEqual([]);
});
